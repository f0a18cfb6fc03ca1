"""A disk whose power can be cut: what the kernel has not written to it by then is gone, as on a real machine."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: FS_IOC_SHUTDOWN of linux/fs.h and xfs/xfs_fs.h, _IOR('X', 125, u32), and its flag NOLOGFLUSH: from now on the file
#: system writes nothing any more, neither its dirty pages nor its journal. Tests of file systems cut the power so.
_SHUTDOWN, _NO_FLUSH = 0x8004587D, 2
#: What umount exits with when something still uses the file system.
_BUSY = 32


@dataclass(frozen=True)
class Disk:
    """An ext4 file system in a file, mounted."""

    image: Path
    place: Path

    def mount(self) -> None:
        """Mount it; what a cut left is recovered from its journal, as after a boot."""
        subprocess.run(["mount", "-o", "loop", str(self.image), str(self.place)], check=True, capture_output=True)

    def unmount(self) -> None:
        """Unmount it, as soon as the kernel has let go of what a process that was killed had mapped."""
        for _ in range(120):
            done = subprocess.run(["umount", str(self.place)], check=False, capture_output=True)
            if done.returncode != _BUSY:
                break
            time.sleep(0.5)
        done.check_returncode()

    def sync(self) -> None:
        """Have all that was written to it so far on the disk."""
        subprocess.run(["sync", "--file-system", str(self.place)], check=True)

    def cut(self) -> None:
        """Cut its power."""
        handle = os.open(self.place, os.O_RDONLY)
        try:
            fcntl.ioctl(handle, _SHUTDOWN, struct.pack("I", _NO_FLUSH))
        finally:
            os.close(handle)


@contextlib.contextmanager
def disk(place: Path, megabytes: int = 4096) -> Iterator[Disk]:
    """A disk that is mounted at this place, which is made; OSError or CalledProcessError where that is not allowed."""
    place.mkdir(parents=True)
    image = place.with_name(f"{place.name}.img")
    with image.open("wb") as file:
        file.truncate(megabytes << 20)
    # Nothing kept back for root, who runs the nodes of tests.
    subprocess.run(["mkfs.ext4", "-q", "-m", "0", str(image)], check=True, capture_output=True)
    made = Disk(image, place)
    made.mount()
    # A broker takes it for a partition, so the file system's root could not be its directory.
    (place / "lost+found").rmdir()
    try:
        yield made
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=False, capture_output=True)
        image.unlink()
