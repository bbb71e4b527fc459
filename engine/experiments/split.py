"""Two or more policies as the arms of one experiment, over the same nodes and signals."""

from collections.abc import Mapping

from ..errors import ConfigurationError
from ..model import Request
from ..profile import Profile
from ..protocols import Rng
from .assignment import Assignment


class PolicySplit:
    """Chooses the profile by the request's arm; takes the place of a profile in a scheduler.

    ``arms`` maps variant to (profile, share). The arm is the request's own ``experiment`` when it names
    this key, else that of its ``unit``, else of its ``id``; a request with neither is drawn by share.
    """

    def __init__(self, key: str, arms: Mapping[str, tuple[Profile, float]]) -> None:
        self.assignment = Assignment(key, {variant: share for variant, (_, share) in arms.items()})
        self.profiles = {variant: profile for variant, (profile, _) in arms.items()}

    def select(self, request: Request, rng: Rng) -> tuple[Profile, tuple[str, str]]:
        """The arm's profile, and (key, variant).

        ConfigurationError when the request names a variant that this experiment does not have.
        """
        key = self.assignment.key
        if request.experiment is not None and request.experiment[0] == key:
            variant = request.experiment[1]
        else:
            unit = request.unit or request.id
            variant = self.assignment.variant(unit) if unit else self.assignment.at(rng.random())
        profile = self.profiles.get(variant)
        if profile is None:
            raise ConfigurationError(f"experiment {key!r} has no variant {variant!r}")
        return profile, (key, variant)
