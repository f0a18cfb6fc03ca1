# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""The name of a release directory, from what is known before anything is downloaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError


def release_name(
    made_of: Mapping[str, Any] | str, launcher_sha256: str, archive_sha512: str = "", product: str = "kafka"
) -> str:
    """Name the release made of a parsed lock file, or of the archive of a version with this SHA-512."""
    from ..module_utils._core.errors import StreamopsError
    from ..plugin_utils.render import release

    try:
        return release.release_name(made_of, launcher_sha256, archive_sha512, product)
    except StreamopsError as error:
        raise AnsibleFilterError(error.message) from error
    except (KeyError, TypeError, ValueError) as error:
        raise AnsibleFilterError(f"release_name: this is not a lock file: {error}") from error


class FilterModule:
    """The filter as Ansible finds it."""

    def filters(self) -> dict[str, Callable[..., str]]:
        """The filters of this file by name."""
        return {"release_name": release_name}
