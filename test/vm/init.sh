#!/bin/busybox sh
# The first process of the initramfs: loads what finds the disk, and goes on there.
/bin/busybox mkdir -p /proc /sys /dev /disk
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t devtmpfs dev /dev
depmod
for module in virtio_pci virtio_mmio virtio_blk ext4; do modprobe $module; done
tries=0
until mount -t ext4 /dev/vda /disk 2>/dev/null; do
  tries=$((tries + 1))
  [ $tries -lt 30 ] || { echo 'no disk'; poweroff -f; }
  sleep 1
done
mount --move /dev /disk/dev
umount /proc
exec switch_root /disk /bin/busybox sh /errand/test/vm/guest.sh
