#!/bin/sh
# The first process in a cluster's namespaces: keeps its node's changes away from the machine, and runs a command beside
# the node. When this ends, so do all processes, mounts, networks and firewall rules that were made in here.
# Usage: inside.sh FOLDER COMMAND…
set -e
folder=$1
shift

# Runtimes, plugins and the kubelet write to these too, whatever folder they are given.
mkdir -p "$folder/var" "$folder/var.work" "$folder/run"
mount -t overlay -o "lowerdir=/var,upperdir=$folder/var,workdir=$folder/var.work" overlay /var
mount --bind "$folder/run" /run

# The kubelet sets these for the whole kernel. Here it writes into copies.
for setting in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys \
  kernel/keys/root_maxbytes; do
  mkdir -p "$folder/sysctl/${setting%/*}"
  cat "/proc/sys/$setting" >"$folder/sysctl/$setting"
  mount --bind "$folder/sysctl/$setting" "/proc/sys/$setting"
done

# The control groups of its containers are below one that is removed afterwards.
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
  mkdir "/sys/fs/cgroup/$CONTROL_GROUP"
else
  for controller in /sys/fs/cgroup/*; do mkdir -p "$controller/$CONTROL_GROUP"; done
fi

# The node's address, and a route to those of services, whose packets kube-proxy's rules send to pods.
ip link set lo up
ip address add "$NODE_ADDRESS/32" dev lo
ip route add "$SERVICE_ADDRESSES" dev lo src "$NODE_ADDRESS"
# At their bridge's address, pods reach what listens on loopback.
iptables -t nat -A PREROUTING -d "$BRIDGE_ADDRESS" -p tcp -j DNAT --to-destination 127.0.0.1

"$@" &
child=$!
trap 'kill -s TERM "$child" 2>/dev/null || true' TERM INT HUP
code=0
wait "$child" || code=$?
# A signal ends `wait` early.
while kill -0 "$child" 2>/dev/null; do wait "$child" || code=$?; done
exit "$code"
