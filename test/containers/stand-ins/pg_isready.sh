#!/bin/bash
# The npm package lacks this tool, which checks whether the server accepts connections.
exec 3<>/dev/tcp/127.0.0.1/5432
