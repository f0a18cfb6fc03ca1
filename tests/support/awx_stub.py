"""A small AWX: as much of its REST API as the modules of awx.awx and awxkit's import use, on this machine.

It keeps objects, and refuses what AWX 24.6.1 refuses: fields of another type, missing ones, a second object of one
name, references to nothing, playbooks that the project does not show, surveys and schedules that break AWX's rules,
answers that nothing asks for, a second credential of a type, and what an organization's administrator may not do
(403). What is launched is noted (awx_launches.py).
"""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.support.awx_kinds import KINDS, STARTED, credential_type_error, rule_error, survey_error
from tests.support.awx_launches import JOBS, asked, chosen, launched, unanswered
from tests.support.awx_roles import held, object_roles

ROOT = "/api/v2/"
TOKEN = "token-of-the-stub"
#: That of a user who is no system administrator; Awx.administered says of which organizations an administrator.
ORGANIZATION_TOKEN = "token-of-an-organization"
USERS = {
    TOKEN: {"id": 1, "username": "admin", "is_superuser": True},
    ORGANIZATION_TOKEN: {"id": 2, "username": "olga", "is_superuser": False},
}
#: Lists of objects that name their owner themselves, and by which field.
MADE_IN = {"workflow_nodes": "workflow_job_template", "schedules": "unified_job_template"}
#: What awxkit asks for besides, of which the stub has none.
_OTHERS = ("users", "applications", "system_job_templates", "hosts", "groups", "instance_groups")
_TYPES = {"string": str, "boolean": bool, "integer": int, "json": (dict, list), "id": int}
Object = dict[str, Any]


class Refused(Exception):
    """What AWX answers 400 to."""


class Forbidden(Exception):
    """What AWX answers 403 to."""


class Awx:
    """The objects, by kind and id."""

    def __init__(self, playbooks: list[str]) -> None:
        self.playbooks = playbooks
        self.objects: dict[str, dict[int, Object]] = {kind: {} for kind in KINDS}
        self.surveys: dict[int, Object] = {}
        self.attached: dict[tuple[int, str], list[int]] = {}
        self.writes: list[str] = []
        self.administered: set[str] = set()
        #: Objects that take no change, as those that something of the installation refuses.
        self.unchangeable: set[int] = set()
        self.jobs: dict[str, dict[int, Object]] = {kind: {} for kind in JOBS.values()}
        self._ids = itertools.count(1)

    def find(self, kind: str, wanted: int) -> Object | None:
        """The object of this id; unified job templates are of several kinds."""
        kinds = STARTED if kind == "unified_job_templates" else (kind,)
        return next((self.objects[one][wanted] for one in kinds if wanted in self.objects[one]), None)

    def named(self, kind: str, url: str) -> Object | None:
        """The object of a named URL, which is its name and that of its organization."""
        name, _, organization = unquote(url).partition("++")
        owners = [one["id"] for one in self.objects["organizations"].values() if one["name"] == organization]
        found = self.objects.get(kind, {}).values()
        return next((one for one in found if one["name"] == name and one.get("organization") in owners), None)

    def create(self, kind: str, given: Mapping[str, Any]) -> Object:
        """Makes an object as a POST does."""
        fields = KINDS[kind].fields
        missing = [name for name, field in fields.items() if field.required and given.get(name) in (None, "")]
        if missing:
            raise Refused({name: ["This field is required."] for name in missing})
        made = {name: field.default for name, field in fields.items()}
        made |= {name: value for name, value in given.items() if name in fields}
        self._check(kind, made, None)
        made["id"] = next(self._ids)
        self.objects[kind][made["id"]] = made
        return made

    def update(self, kind: str, current: Object, given: Mapping[str, Any]) -> None:
        """Changes an object as a PATCH does."""
        if current["id"] in self.unchangeable:
            raise Refused({"__all__": [f"{sorted(given)} cannot be changed."]})
        moved = given.get("organization") not in (None, current.get("organization"))
        if kind == "execution_environments" and moved:
            raise Refused({"organization": ["Cannot change the organization of an execution environment"]})
        changed = {**current, **{name: value for name, value in given.items() if name in KINDS[kind].fields}}
        self._check(kind, changed, current["id"])
        current |= changed

    def delete(self, kind: str, wanted: int) -> None:
        """Deletes an object as a DELETE does: with what belongs to it, and out of all lists and fields."""
        del self.objects[kind][wanted]
        self.surveys.pop(wanted, None)
        self.attached = {place: ids for place, ids in self.attached.items() if place[0] != wanted}
        for ids in self.attached.values():
            ids[:] = [one for one in ids if one != wanted]
        for other, fields in ((one, KINDS[one].fields) for one in KINDS):
            refers = [name for name, field in fields.items() if field.to]
            for one in list(self.objects[other].values()):
                if any(one[name] == wanted and fields[name].required for name in refers):
                    self.delete(other, one["id"])
                one |= {name: None for name in refers if one[name] == wanted}

    def _check(self, kind: str, made: Object, own: int | None) -> None:
        for name, field in KINDS[kind].fields.items():
            value = made[name]
            if value is None and not field.required:
                continue
            if not isinstance(value, _TYPES[field.type]) or (field.type == "integer" and isinstance(value, bool)):
                raise Refused({name: [f"Not a valid {field.type}: {value!r}"]})
            if field.choices and value not in field.choices:
                raise Refused({name: [f'"{value}" is not a valid choice.']})
            if field.to and self.find(field.to, value) is None:
                raise Refused({name: [f'Invalid pk "{value}" - object does not exist.']})
        unique = KINDS[kind].unique
        for other in self.objects[kind].values() if unique else ():
            if other["id"] != own and all(other[name] == made[name] for name in unique):
                raise Refused({"__all__": [f"{kind} with this {' and '.join(unique)} already exists."]})
        self._check_meaning(kind, made)

    def _check_meaning(self, kind: str, made: Object) -> None:
        if kind == "job_templates" and made["playbook"] not in self.playbooks:
            raise Refused({"playbook": ["Playbook not found for project."]})
        if kind == "credential_types" and (error := credential_type_error(made["inputs"], made["injectors"])):
            raise Refused({"injectors": [error]})
        if kind == "schedules" and (error := rule_error(made["rrule"])):
            raise Refused({"rrule": [error]})
        if kind in ("schedules", "workflow_job_template_nodes") and made["extra_data"]:
            spec = self.surveys.get(made["unified_job_template"], {"spec": []})["spec"]
            asked = {one["variable"] for one in spec}
            if set(made["extra_data"]) - asked:
                raise Refused({"extra_data": ["Variables are not allowed on launch."]})

    def is_administered(self, organization: int | None) -> bool:
        """Whether the organization is one of those that the user of ORGANIZATION_TOKEN administers."""
        found = self.find("organizations", organization) if organization else None
        return found is not None and found["name"] in self.administered

    def permit(self, kind: str, current: Object | None, given: Mapping[str, Any]) -> None:
        """Refuses what an organization's administrator may not make or change (CredentialTypeAccess and the like)."""
        if kind == "organizations":
            allowed = current is not None and self.is_administered(current["id"])
        elif kind == "execution_environments":
            allowed = self.is_administered((current or given).get("organization"))
        else:
            allowed = kind != "credential_types"
        if not allowed:
            raise Forbidden

    def launch(self, kind: str, owner: int, given: Mapping[str, Any]) -> Object:
        """Starts a template as a POST to its launch does."""
        if missing := unanswered(self.surveys.get(owner, {}), given):
            raise Refused({"variables_needed_to_start": [f"'{name}' value missing" for name in missing]})
        job = launched(ROOT, kind, self.objects[kind][owner], given, next(self._ids))
        self.jobs[JOBS[kind]][job["id"]] = job
        return job

    def members(self, owner: int, name: str) -> list[int]:
        """Return the ids of a list of an object, also of those that name their owner themselves."""
        if name not in MADE_IN:
            return self.attached.get((owner, name), [])
        return [one["id"] for one in self.objects[member_kind(name)].values() if one[MADE_IN[name]] == owner]

    def attach(self, owner: int, name: str, given: Mapping[str, Any]) -> None:
        """Puts an object into a list of another, or takes it out."""
        members = self.attached.setdefault((owner, name), [])
        if given.get("disassociate"):
            members.remove(given["id"])
        elif given["id"] not in members:
            self._check_place(name, given["id"], members)
            members.append(given["id"])

    def _check_place(self, name: str, new: int, members: list[int]) -> None:
        """Refuses a second credential of a type, as JobTemplateCredentialsList does; of vaults one for each id.

        An organization has those of Galaxy alone, and several of them.
        """
        if name == "galaxy_credentials":
            kind = self.objects["credential_types"][self._place(new)[0]]
            if kind["kind"] != "galaxy":
                raise Refused({"msg": f"Credential must be a Galaxy credential, not {kind['name']}."})
        if name != "credentials":
            return
        taken = [self._place(one) for one in members]
        if self._place(new) in taken:
            kind = self.objects["credential_types"][self._place(new)[0]]["name"]
            raise Refused({"error": f"Cannot assign multiple {kind} credentials."})

    def _place(self, credential: int) -> tuple[int, str]:
        one = self.objects["credentials"][credential]
        return one["credential_type"], one["inputs"].get("vault_id", "")

    def value(self, kind: str, one: Object, field: str) -> Any:
        """The value of a field, or of one of what it refers to (organization__name)."""
        name, _, behind = field.partition("__")
        if not behind or name not in KINDS[kind].fields:
            return one.get(name)
        to = KINDS[kind].fields[name].to
        refers = self.find(to, one[name]) if one[name] is not None else None
        kinds = STARTED if to == "unified_job_templates" else (to,)
        of = next((each for each in kinds if one[name] in self.objects[each]), to)
        return self.value(of, refers, behind) if refers else None


def member_kind(name: str) -> str:
    """The kind of the objects in a list of another object."""
    if name.endswith("_nodes"):
        return "workflow_job_template_nodes"
    if name == "galaxy_credentials":
        return "credentials"
    return "notification_templates" if name.startswith("notification_templates") else name


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    awx: Awx
    user: Object

    def log_message(self, *_args: Any) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def do_PATCH(self) -> None:
        self._serve("PATCH")

    def do_PUT(self) -> None:
        self._serve("PATCH")

    def do_DELETE(self) -> None:
        self._serve("DELETE")

    def do_OPTIONS(self) -> None:
        self._serve("OPTIONS")

    def _serve(self, method: str) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        target = urlsplit(self.path)
        try:
            if target.path == "/api/":
                return self._answer(200, {"available_versions": {"v2": ROOT}})
            user = USERS.get((self.headers.get("Authorization") or "").removeprefix("Bearer "))
            if user is None and target.path != ROOT:
                return self._answer(401, {"detail": "Authentication credentials were not provided."})
            given = json.loads(body) if body else {}
            if method in ("POST", "PATCH", "DELETE"):
                self.awx.writes.append(f"{method} {target.path}")
            self.user = user or {}
            status, answer = self._route(method, target.path[len(ROOT) :].strip("/").split("/"), given, target.query)
        except Forbidden:
            status, answer = 403, {"detail": "You do not have permission to perform this action."}
        except Refused as refused:
            status, answer = 400, refused.args[0]
        return self._answer(status, answer)

    def _route(self, method: str, parts: list[str], given: Object, query: str) -> tuple[int, Any]:
        match parts:
            case [""]:
                return 200, {kind.replace("inventories", "inventory"): f"{ROOT}{kind}/" for kind in (*KINDS, *_OTHERS)}
            case ["me"]:
                return 200, _page([self.user])
            case ["config"]:
                return 200, {"version": "24.6.1"}
            case [kind] if kind in JOBS.values() and method == "GET":
                return 200, _page(chosen(self.awx.jobs[kind], dict(parse_qsl(query))))
            case [kind]:
                return self._list(method, kind, given, dict(parse_qsl(query)))
            case [kind, number] if number.isdecimal() and (found := self.awx.find(kind, int(number))):
                return self._detail(method, kind, found, given)
            case [kind, named] if "++" in named and (found := self.awx.named(kind, named)):
                return self._detail(method, kind, found, given)
            case ["roles", number, "teams"]:
                return self._members(method, "roles", int(number), "teams", given)
            case [kind, number, "launch"] if kind in JOBS and method == "POST":
                return 201, self.awx.launch(kind, int(number), given)
            case [_, number, "survey_spec"]:
                return self._survey(method, int(number), given)
            case ["workflow_job_template_nodes", number, "create_approval_template"]:
                return self._approval(method, int(number), given)
            case [kind, number, name] if name in KINDS[kind].lists or name == "schedules":
                return self._members(method, kind, int(number), name, given)
        return 404, {"detail": "Not found."}

    def _list(self, method: str, kind: str, given: Object, query: Mapping[str, str]) -> tuple[int, Any]:
        if kind not in KINDS and kind != "unified_job_templates":
            known = kind in _OTHERS and method != "POST"
            return (200, _page([]) if method == "GET" else _options(kind)) if known else (404, {"detail": "Not found."})
        if method == "OPTIONS":
            return 200, _options(kind)
        if method == "POST":
            self._permit(kind, None, given)
            return 201, self._shown(kind, self.awx.create(kind, given))
        kinds = STARTED if kind == "unified_job_templates" else (kind,)
        found = [(one, each) for one in kinds for each in self.awx.objects[one].values()]
        seen = [(one, each) for one, each in found if self._is_seen(one, each) and self._matches(one, each, query)]
        return 200, _page([self._shown(one, each) for one, each in seen])

    def _permit(self, kind: str, current: Object | None, given: Object) -> None:
        if not self.user["is_superuser"]:
            self.awx.permit(kind, current, given)

    def _is_seen(self, kind: str, one: Object) -> bool:
        """Whether the user may see an object (get_queryset of CredentialAccess and ExecutionEnvironmentAccess).

        An administrator of an organization sees no environment of others, and no credential but those of the own: AWX's
        own Galaxy credential is of no organization.
        """
        hidden = kind == "credentials" or (kind == "execution_environments" and one["organization"] is not None)
        return not hidden or self.user["is_superuser"] or self.awx.is_administered(one["organization"])

    def _matches(self, kind: str, one: Object, query: Mapping[str, str]) -> bool:
        values = {name: str(self.awx.value(kind, one, name.removeprefix("or__"))) for name in query if _asks(name)}
        either = [values[name] == query[name] for name in values if name.startswith("or__")]
        every = [values[name] == query[name] for name in values if not name.startswith("or__")]
        return all(every) and (any(either) or not either)

    def _detail(self, method: str, kind: str, found: Object, given: Object) -> tuple[int, Any]:
        if method == "DELETE":
            self.awx.delete(kind, found["id"])
            return 204, None
        if method == "PATCH":
            self._permit(kind, found, given)
            self.awx.update(kind, found, given)
        return 200, self._shown(kind, found)

    def _survey(self, method: str, owner: int, given: Object) -> tuple[int, Any]:
        if method == "OPTIONS":
            return 200, {"actions": {"POST": {}}, "search_fields": []}
        if method == "POST":
            if error := survey_error(given):
                raise Refused({"error": error})
            self.awx.surveys[owner] = given
            return 200, {}
        return 200, self.awx.surveys.get(owner, {})

    def _approval(self, method: str, owner: int, given: Object) -> tuple[int, Any]:
        if method == "OPTIONS":
            return 200, _options("workflow_approval_templates")
        made = self.awx.create("workflow_approval_templates", given)
        self.awx.objects["workflow_job_template_nodes"][owner]["unified_job_template"] = made["id"]
        return 201, self._shown("workflow_approval_templates", made)

    def _members(self, method: str, kind: str, owner: int, name: str, given: Object) -> tuple[int, Any]:
        of = member_kind(name)
        if method == "OPTIONS":
            options = _options(of)
            if name not in MADE_IN:
                options["actions"]["POST"]["id"] = {"type": "integer", "required": False}
            return 200, options
        if method == "POST" and "id" not in given:
            made = self.awx.create(of, {**given, **({MADE_IN[name]: owner} if name in MADE_IN else {})})
            if name not in MADE_IN:
                self.awx.attach(owner, name, made)
            return 201, self._shown(of, made)
        if method == "POST":
            if self.awx.find(of, given["id"]) is None:
                raise Refused({"id": ["object does not exist"]})
            # BaseAccess.can_attach asks for the right to read what is attached.
            if not self._is_seen(of, self.awx.objects[of][given["id"]]):
                raise Forbidden
            self.awx.attach(owner, name, given)
            return 204, None
        return 200, _page([self._shown(of, self.awx.objects[of][one]) for one in self.awx.members(owner, name)])

    def _shown(self, kind: str, one: Object) -> Object:
        url = f"{ROOT}{kind}/{one['id']}/"
        related = {name: f"{url}{name}/" for name in KINDS[kind].lists}
        for name, field in KINDS[kind].fields.items():
            if field.to and one[name] is not None:
                to = next((each for each in STARTED if one[name] in self.awx.objects[each]), field.to)
                related[name] = f"{ROOT}{to}/{one[name]}/"
        if "survey_enabled" in one:
            related["survey_spec"] = f"{url}survey_spec/"
            related["schedules"] = f"{url}schedules/"
            related["launch"] = f"{url}launch/"
        if kind == "workflow_job_template_nodes":
            related["create_approval_template"] = f"{url}create_approval_template/"
        state: Object = {"status": "successful", "scm_revision": "0"} if kind == "projects" else {}
        named: Object = {
            name: {"id": one[name], "name": self.awx.value(kind, one, f"{name}__name")}
            for name, field in KINDS[kind].fields.items()
            if field.to and one[name] is not None
        }
        if kind in STARTED and "labels" in KINDS[kind].lists:
            named |= {name: self._attached(one, name) for name in ("labels", "credentials")}
            named["labels"] = {"count": len(named["labels"]), "results": named["labels"][:10]}
        if kind == "workflow_job_template_nodes":
            state = {name: self.awx.members(one["id"], name) for name in KINDS[kind].lists if name.endswith("_nodes")}
        if roles := object_roles(kind, one["id"]):
            named["object_roles"] = roles
        shown = {**one, **state, "type": KINDS[kind].type, "url": url, "related": related, "summary_fields": named}
        return asked(shown) if kind in JOBS else shown

    def _attached(self, one: Object, name: str) -> list[Object]:
        found = [self.awx.objects[name][each] for each in self.awx.members(one["id"], name)]
        return [{"id": each["id"], "name": each["name"]} for each in found]

    def _answer(self, status: int, body: Any) -> None:
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Allow", "GET, POST, HEAD, OPTIONS")
        self.send_header("X-API-Product-Name", "AWX")
        self.send_header("X-API-Product-Version", "24.6.1")
        self.end_headers()
        self.wfile.write(text)


def _page(results: list[Object]) -> Object:
    return {"count": len(results), "next": None, "previous": None, "results": results}


def _options(kind: str) -> Object:
    fields = KINDS[kind].fields if kind in KINDS else {}
    post = {name: {"type": field.type, "required": field.required} for name, field in fields.items()}
    return {"actions": {"POST": post}, "search_fields": ["name"]}


def _asks(name: str) -> bool:
    """Whether a word of a query is about a field, not about pages, order or the type."""
    return name != "type" and re.match(r"page|order_by", name) is None


@contextmanager
def stub(playbooks: list[str]) -> Iterator[tuple[str, Awx]]:
    """An AWX without objects, at the address that comes with it; playbooks are those that its projects show."""
    awx = Awx(playbooks)
    handler = type("Handler", (_Handler,), {"awx": awx})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", awx
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def described(awx: Awx) -> dict[str, Any]:
    """All objects by name, with names in place of ids, so that two of them can be compared."""

    def name(wanted: int) -> str:
        return next(_label(objects[wanted]) for objects in awx.objects.values() if wanted in objects)

    def fields(kind: str, one: Object) -> Object:
        known = KINDS[kind].fields
        plain = {
            each: name(value) if known[each].to and value else value for each, value in one.items() if each != "id"
        }
        lists = {to: sorted(map(name, awx.members(one["id"], to))) for to in KINDS[kind].lists}
        roles = {role: sorted(map(name, teams)) for role, teams in held(kind, one["id"], awx.attached).items()}
        return {**plain, **lists, "survey": awx.surveys.get(one["id"]), "roles": roles}

    def _label(one: Object) -> str:
        if "identifier" in one:
            return f"{awx.objects['workflow_job_templates'][one['workflow_job_template']]['name']}: {one['identifier']}"
        return str(one["name"])

    return {
        kind: {_label(one): fields(kind, one) for one in objects.values()}
        for kind, objects in awx.objects.items()
        if kind != "workflow_approval_templates"
    } | {
        "workflow_approval_templates": sorted(
            (one["name"], one["description"], one["timeout"])
            for one in awx.objects["workflow_approval_templates"].values()
        )
    }
