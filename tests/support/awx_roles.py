"""Roles of the stub of AWX (awx_stub.py): which an object has, and which teams hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: By kind the roles that its objects have (object_roles of AWX 24.6.1).
ROLES = {
    "job_templates": ("admin_role", "execute_role", "read_role"),
    "workflow_job_templates": ("admin_role", "execute_role", "read_role", "approval_role"),
}
_MOST = 10


def object_roles(kind: str, owner: int) -> dict[str, dict[str, Any]]:
    """Return the roles of an object by name, as its summary shows them; an id tells the object and the role."""
    return {
        role: {"id": owner * _MOST + place, "name": role.removesuffix("_role").capitalize()}
        for place, role in enumerate(ROLES.get(kind, ()))
    }


def held(kind: str, owner: int, attached: Mapping[tuple[int, str], list[int]]) -> dict[str, list[int]]:
    """Return by role of an object the ids of its teams, without the roles that no team holds."""
    found = {role: attached.get((one["id"], "teams"), []) for role, one in object_roles(kind, owner).items()}
    return {role.removesuffix("_role"): teams for role, teams in found.items() if teams}
