# The first process of the machine: gives each test file a cgroup as systemd gives a service with Delegate=yes.
/bin/busybox mkdir -p /opt/busybox
/bin/busybox --install -s /opt/busybox
export PATH=/usr/local/bin:/usr/bin:/usr/sbin:/opt/busybox HOME=/root TZ=UTC
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs -o mode=1777 tmp /tmp
mkdir -p /dev/shm /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t devpts pts /dev/pts
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo '+memory +pids +cpu' >/sys/fs/cgroup/cgroup.subtree_control
ip link set lo up
hostname vm
depmod
modprobe nfnetlink # the kernel does not find it by itself here
echo "vm: $(uname -srm), node $(node --version), memory $(grep MemTotal /proc/meminfo)"
cd /errand || exit
failed=0
number=0
while read -r file; do
  number=$((number + 1))
  service=/sys/fs/cgroup/errand-$number.service
  mkdir $service
  echo "vm: $file"
  sh -c "echo \$\$ >$service/cgroup.procs; exec node --test-timeout=1200000 --test-reporter=spec $file" </dev/null || failed=$((failed + 1))
done </tests
echo "vm: files that failed: $failed"
sync
poweroff -f
