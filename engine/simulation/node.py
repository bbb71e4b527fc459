"""One simulated LLM node: iterations of chunked prefill and decode, exact and cheap.

The model is one of continuous batching. An iteration gives every decoding request one token and takes up to
2,048 waiting prompt tokens, first come first served; it lasts

    dt = (12 ms + prefill / 12,000 s + 0.1 ms * decodes + 20 ns * context tokens) / speed

A request is admitted when one of 128 slots is free and the memory for prompt and output fits (reserved at
once, so nothing is ever preempted). A fleet of 64 such nodes runs some 3,000 iterations a second, too many
for an interpreter. But between two changes of the batch the iterations differ only by the growing
context, so k of them last

    (k * c + 20 ns * D * k (k - 1) / 2) / speed,   c = 12 ms + 0.1 ms * D + 20 ns * K

for D decodes over K tokens of context. The node therefore jumps to the next completion in one step, and an
arrival on the way cuts the jump at the end of the iteration under way: the same result as stepping through
each, at about four steps a request. Times are seconds of the virtual clock.
"""

import heapq
import math
from collections import OrderedDict, deque
from dataclasses import dataclass

ITERATION_S = 0.012
PREFILL_TOKENS_PER_S = 12_000.0
DECODE_S = 0.0001
CONTEXT_S = 2e-8
CHUNK_TOKENS = 2_048
SLOTS = 128
CACHE_TOKENS = 1_200 * 512
"""Prompt tokens of past requests a node keeps for reuse."""


@dataclass(slots=True, eq=False)
class Job:
    """One request on its way through a node. Lengths in tokens, times in seconds, NaN until they happen.

    ``prefix`` of the prompt's tokens equal those of an earlier request with the same ``session`` key.
    ``cached`` of them needed no prefill; ``left`` prompt tokens still do.
    """

    id: int
    prompt: int
    output: int
    session: int = 0
    prefix: int = 0
    dispatched: float = math.nan
    started: float = math.nan
    first_token: float = math.nan
    finished: float = math.nan
    cached: int = 0
    left: int = 0
    abandoned: bool = False


@dataclass(frozen=True, slots=True)
class Load:
    """What a node would report of itself. ``kv`` and ``busy`` are shares in [0, 1].

    ``busy`` is the part of the time since the last report in which an iteration ran.
    """

    waiting: int
    running: int
    kv: float
    busy: float


class SimulatedNode:
    """The state of one node; ``due`` is when it next needs ``step``, inf while idle.

    ``speed`` > 0 multiplies everything, ``memory`` is the room for prompts and outputs in tokens.
    """

    def __init__(self, speed: float, memory: int) -> None:
        if not speed > 0 or memory <= 0:
            raise ValueError("a node needs a speed and memory above 0")
        self.speed = speed
        self.memory = memory
        self.due = math.inf
        self._waiting: deque[Job] = deque()
        self._prefill: deque[Job] = deque()
        self._decodes: list[tuple[int, int, Job]] = []  # heap of (last iteration, id, job)
        self._iteration = 0
        self._context = 0
        self._reserved = 0
        self._cache: OrderedDict[int, int] = OrderedDict()
        self._cache_tokens = 0
        self._begun = 0.0  # of the planned iterations: start, number, prompt tokens, work of the first, speed
        self._planned = 0
        self._chunk = 0
        self._first = 0.0
        self._pace = speed
        self._busy = 0.0
        self._reported = 0.0

    @property
    def running(self) -> int:
        """Requests that hold a slot."""
        return len(self._decodes) + len(self._prefill)

    def waiting(self) -> int:
        """Requests that do not hold a slot yet."""
        return sum(not job.abandoned for job in self._waiting)

    def submit(self, job: Job, now: float) -> None:
        """Queue a request that reaches the node at ``now``.

        Raises ValueError for one that can never fit: it would block the queue for ever.
        """
        if job.prompt + job.output > self.memory:
            raise ValueError(f"request {job.id} needs more memory than the node has")
        self._waiting.append(job)
        self._interrupt(now)

    def set_speed(self, speed: float, now: float) -> None:
        """Change the speed; the iteration under way ends as it began."""
        if not speed > 0:
            raise ValueError("a node's speed stays above 0")
        self._interrupt(now)
        self.speed = speed

    def load(self, now: float) -> Load:
        """What the node reports at ``now``, no earlier than the last report."""
        span = now - self._reported
        running = max(0.0, min(now, self.due) - max(self._begun, self._reported)) if self._planned else 0.0
        busy = min(1.0, (self._busy + running) / span) if span > 0 else float(self._planned > 0)
        self._busy, self._reported = 0.0, now
        return Load(self.waiting(), self.running, self._reserved / self.memory, busy)

    def step(self) -> tuple[list[Job], list[Job]]:
        """Complete what was planned until ``due`` and plan on.

        Returns the requests that got their first token and those that ended (a request may be in both).
        """
        now, self._busy = self.due, self._busy + self.due - max(self._begun, self._reported)
        self._iteration += self._planned
        self._context += self._planned * len(self._decodes)
        first = self._take_prefill(now) if self._chunk else []
        ended: list[Job] = []
        while self._decodes and self._decodes[0][0] <= self._iteration:
            job = heapq.heappop(self._decodes)[2]
            job.finished = now
            self._context -= job.prompt + job.output
            self._reserved -= job.prompt + job.output
            self._remember(job)
            ended.append(job)
        self._plan(now)
        return first, ended

    def _take_prefill(self, now: float) -> list[Job]:
        done, budget = [], self._chunk
        while budget:
            job = self._prefill[0]
            taken = min(job.left, budget)
            budget -= taken
            job.left -= taken
            if job.left:
                break
            self._prefill.popleft()
            job.first_token = now
            self._context += job.prompt + 1
            heapq.heappush(self._decodes, (self._iteration + job.output - 1, job.id, job))
            done.append(job)
        return done

    def _remember(self, job: Job) -> None:
        self._cache_tokens += job.prompt + job.output - self._cache.pop(job.session, 0)
        self._cache[job.session] = job.prompt + job.output
        while self._cache_tokens > CACHE_TOKENS:
            self._cache_tokens -= self._cache.popitem(last=False)[1]

    def _admit(self, now: float) -> None:
        while self._waiting and self.running < SLOTS:
            job = self._waiting[0]
            if not job.abandoned:
                if self._reserved + job.prompt + job.output > self.memory:
                    return
                job.started = now
                job.cached = min(job.prefix, self._cache.get(job.session, 0), job.prompt - 1)
                self._reserved += job.prompt + job.output
                job.left = job.prompt - job.cached
                self._prefill.append(job)
            self._waiting.popleft()

    def _plan(self, now: float) -> None:
        self._admit(now)
        decodes = len(self._decodes)
        self._begun, self._chunk, self._planned = now, 0, 0
        self.due, self._pace = math.inf, self.speed
        self._first = ITERATION_S + DECODE_S * decodes + CONTEXT_S * self._context
        if self._prefill:
            for job in self._prefill:
                self._chunk += job.left
                if self._chunk >= CHUNK_TOKENS:
                    self._chunk = CHUNK_TOKENS
                    break
            self._first += self._chunk / PREFILL_TOKENS_PER_S
            self._planned = 1
        elif decodes:
            self._planned = self._decodes[0][0] - self._iteration
        if self._planned:
            self.due = now + self._seconds(self._planned)

    def _seconds(self, iterations: int) -> float:
        growth = CONTEXT_S * len(self._decodes) * iterations * (iterations - 1) / 2.0
        return (iterations * self._first + growth) / self._pace

    def _interrupt(self, now: float) -> None:
        """Let the plan end with the iteration under way at ``now``, so that the next one sees the change."""
        if not self._planned:
            self._plan(now)
            return
        low, high = 1, self._planned  # the smallest number of iterations that reach past now
        while low < high:
            middle = (low + high) // 2
            if self._begun + self._seconds(middle) < now:
                low = middle + 1
            else:
                high = middle
        self._planned = low
        self.due = self._begun + self._seconds(low)
