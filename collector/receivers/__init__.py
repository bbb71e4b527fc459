"""Where requests come in: one transport-free Export behind gRPC and HTTP."""
