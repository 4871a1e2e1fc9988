import { Elysia } from 'elysia'
import { z } from 'zod'
import { type Action, actionText, type LabelKey } from '../../../src/core/actions.ts'
import type { ActivityItem, AuditKind } from '../../../src/core/activity.ts'
import type { Actor } from '../../../src/core/actor.ts'
import type { AccountAuditKind, AuditEntry } from '../../../src/core/audits.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import { formatValue } from '../../../src/core/fields/read.ts'
import type { Person } from '../../../src/core/model.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { json } from '../../../src/wire/answer.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import { parseRecordId, type RecordsService } from '../../records/index.ts'
import { ActivityFilter, AuditLogFilter, MAX_AUDIT_ID, MAX_PAGE } from '../input.ts'
import type { ActivityService } from '../service.ts'

const PREFIXES = ['/api/v1/db/meta', '/api/v2/meta']
const TAGS = ['Activity']
const DEFAULT_LIMIT = 25
/** Entries that a page may leave out: what lies deeper is reached by the `cursor`. */
const MAX_OFFSET = 1_000

interface Services {
  activity: ActivityService
  records: RecordsService
  auth: AuthService
}

const id = z.string().min(1).max(64)
/** The body of earlier clients (spec §7), which reported each change of a cell by themselves. */
const RowUpdate = z.object({
  fk_model_id: id,
  column_name: z.string().min(1).max(255),
  value: z.unknown(),
  prev_value: z.unknown(),
})

/** The audits of a base (spec §7), which newer servers of others have dropped, and those of the server. */
export function activityRest(kernel: Kernel, { activity, records, auth }: Services) {
  async function list(actor: Actor, baseId: string, request: Request) {
    const query = new URL(request.url).searchParams
    const limit = readNumber(query, 'limit', { least: 1, most: MAX_PAGE }) ?? DEFAULT_LIMIT
    const offset = readNumber(query, 'offset', { least: 0, most: MAX_OFFSET }) ?? 0
    const filter = readFilter(query)
    let cursor = query.get('cursor')
    for (let left = offset; left > 0; left -= MAX_PAGE) {
      const skipped = await activity.list(actor, { baseId, filter, cursor, limit: Math.min(left, MAX_PAGE) })
      if (skipped.next === null) return { list: [], pageInfo: pageInfo(offset, limit, true), cursor: null }
      cursor = skipped.next
    }
    const { items, people, next } = await activity.list(actor, { baseId, filter, cursor, limit })
    const byId = new Map(people.map((person) => [person.id, person]))
    return {
      list: items.map((item) => presentItem(baseId, item, byId.get(item.actorId ?? ''))),
      pageInfo: pageInfo(offset, limit, next === null),
      cursor: next,
    }
  }

  async function log(actor: Actor, request: Request) {
    const query = new URL(request.url).searchParams
    const limit = readNumber(query, 'limit', { least: 1, most: MAX_PAGE }) ?? DEFAULT_LIMIT
    const cursor = readNumber(query, 'cursor', { least: 1, most: MAX_AUDIT_ID })
    const given = ['group', 'person', 'from', 'to'].map((name) => [name, query.get(name) || undefined])
    const filter = readBody(AuditLogFilter, Object.fromEntries(given))
    const { items, people, next } = await activity.log(actor, { filter, cursor, limit })
    const byId = new Map(people.map((person) => [person.id, person]))
    return {
      list: items.map((item) => presentEntry(item, byId)),
      pageInfo: { pageSize: limit, isFirstPage: cursor === undefined, isLastPage: next === null },
      cursor: next,
    }
  }

  /** The history already has each change of a cell: answers with the newest of this one. */
  async function rowUpdate(actor: Actor, rowId: string, body: z.output<typeof RowUpdate>) {
    const { fk_model_id: tableId, column_name: name } = body
    const { model } = await records.open(actor, tableId)
    await auth.access.authorize(actor, 'record.update', model.table.baseId)
    const field = model.fields.find(({ columnName, title, id: own }) =>
      [columnName, title, own].includes(name),
    )
    if (!field) throw notFound('Field', name)
    const recordId = parseRecordId(model, rowId)
    const { entries, people } = await records.history(actor, tableId, recordId)
    const entry = entries.find(({ changes }) => changes.some(({ fieldId }) => fieldId === field.id))
    const change = entry?.changes.find(({ fieldId }) => fieldId === field.id)
    if (!entry || !change)
      throw new AppError('RECORD_NOT_FOUND', m.activity_error_no_change({ field: field.title }))
    const person = people.find(({ id: own }) => own === entry.actorId)
    return {
      ...place(model.table.baseId, person),
      id: String(entry.id),
      fk_model_id: tableId,
      row_id: String(recordId),
      op_type: 'DATA',
      op_sub_type: 'UPDATE',
      description: m.activity_row_update({
        table: model.table.title,
        field: field.title,
        before: formatValue(field, change.before),
        after: formatValue(field, change.after),
      }),
      created_at: entry.at,
      updated_at: entry.at,
    }
  }

  const app = new Elysia({ tags: TAGS }).use(restBase(kernel, auth))
  app.get(
    '/api/v1/db/meta/projects/:baseId/audits',
    ({ actor, params, request }) => list(actor, params.baseId, request),
    { detail: { summary: 'List what was done in a base, newest first' } },
  )
  app.get(
    '/api/v2/meta/bases/:baseId/audits',
    ({ actor, params, request }) => list(actor, params.baseId, request),
    { detail: { summary: 'List what was done in a base, newest first' } },
  )
  for (const prefix of PREFIXES) {
    app.get(`${prefix}/audits`, ({ actor, request }) => log(actor, request), {
      detail: { summary: 'List the audit log of the server, newest first' },
    })
    app.post(
      `${prefix}/audits/rows/:rowId/update`,
      async ({ actor, params, body }) =>
        json(await rowUpdate(actor, params.rowId.slice(0, 255), readBody(RowUpdate, body)), 200),
      { detail: { summary: 'The latest change of a cell, for earlier clients' } },
    )
  }
  return app
}

const pageInfo = (offset: number, pageSize: number, isLastPage: boolean) => ({
  page: Math.floor(offset / pageSize) + 1,
  pageSize,
  isFirstPage: offset === 0,
  isLastPage,
})

const place = (baseId: string | null, person: Person | undefined) => ({
  user: person?.email ?? null,
  fk_user_id: person?.id ?? null,
  base_id: baseId,
  source_id: null,
  status: null,
})

/** An item in the form of the specification's audit. */
function presentItem(baseId: string, item: ActivityItem, person: Person | undefined) {
  const own = { ...place(baseId, person), id: item.id, created_at: item.at, updated_at: item.at }
  if (item.kind === 'comment') {
    return {
      ...own,
      fk_model_id: item.tableId,
      row_id: String(item.recordId),
      op_type: 'COMMENT',
      op_sub_type: 'INSERT',
      description: item.text,
    }
  }
  if (item.kind === 'audit') {
    const [opType, opSubType] = AUDIT_TYPES[item.auditKind]
    return {
      ...own,
      fk_model_id: null,
      row_id: null,
      op_type: opType,
      op_sub_type: opSubType,
      description: null,
      details: item.detail,
    }
  }
  const { action, step } = item
  const [opType, opSubType] = typesOf(action)
  return {
    ...own,
    entry_id: action.id,
    fk_model_id: action.tableId,
    row_id: null,
    op_type: opType,
    op_sub_type: opSubType,
    description: actionText(action),
    details: { kind: action.kind, records: action.records, step, state: action.state },
  }
}

/** An entry of the audit log in the form of the specification's audit, with the person whom it concerns. */
function presentEntry(entry: AuditEntry, people: ReadonlyMap<string, Person>) {
  const { id, at, kind, actorId, userId, baseId, address, userAgent, detail } = entry
  const [opType, opSubType] = AUDIT_TYPES[kind]
  return {
    ...place(baseId, people.get(actorId ?? '')),
    id: String(id),
    kind,
    op_type: opType,
    op_sub_type: opSubType,
    affected_user: people.get(userId ?? '')?.email ?? null,
    fk_affected_user_id: userId,
    ip: address,
    user_agent: userAgent,
    description: null,
    details: detail,
    created_at: at,
    updated_at: at,
  }
}

const AUDIT_TYPES: Record<AuditKind | AccountAuditKind, [string, string]> = {
  'user.sign-in': ['AUTHENTICATION', 'SIGNIN'],
  'user.sign-in-failed': ['AUTHENTICATION', 'SIGNIN_FAILED'],
  'user.sign-out': ['AUTHENTICATION', 'SIGNOUT'],
  'user.sign-up': ['AUTHENTICATION', 'SIGNUP'],
  'user.accept-invite': ['AUTHENTICATION', 'SIGNUP'],
  'user.password-change': ['AUTHENTICATION', 'PASSWORD_CHANGE'],
  'user.reset-link': ['AUTHENTICATION', 'PASSWORD_FORGOT'],
  'user.password-reset': ['AUTHENTICATION', 'PASSWORD_RESET'],
  'user.invite': ['ORG_USER', 'INVITE'],
  'user.resend-invite': ['ORG_USER', 'RESEND_INVITE'],
  'user.roles': ['ORG_USER', 'ROLES_MANAGEMENT'],
  'user.workspace-role': ['ORG_USER', 'ROLES_MANAGEMENT'],
  'user.delete': ['ORG_USER', 'DELETE'],
  'token.create': ['API_TOKEN', 'CREATE'],
  'token.delete': ['API_TOKEN', 'DELETE'],
  'settings.update': ['SETTINGS', 'UPDATE'],
  'plugin.update': ['PLUGIN', 'UPDATE'],
  'plugin.deactivate': ['PLUGIN', 'DELETE'],
  'base.purge': ['PROJECT', 'DELETE'],
  'server.restore': ['SETTINGS', 'UPDATE'],
  'base.create': ['PROJECT', 'CREATE'],
  'base.update': ['PROJECT', 'RENAME'],
  'base.delete': ['PROJECT', 'DELETE'],
  'base.restore': ['PROJECT', 'UPDATE'],
  'member.invite': ['ORG_USER', 'INVITE'],
  'member.update': ['ORG_USER', 'ROLES_MANAGEMENT'],
  'member.remove': ['ORG_USER', 'DELETE'],
  'share.create': ['SHARE', 'CREATE'],
  'share.update': ['SHARE', 'UPDATE'],
  'share.delete': ['SHARE', 'DELETE'],
}

const OWNER_TYPES: Record<string, string> = {
  records: 'DATA',
  table: 'TABLE',
  field: 'TABLE_COLUMN',
  view: 'TABLE_VIEW',
  source: 'META',
}
const VERB_TYPES: Record<string, string> = {
  insert: 'INSERT',
  import: 'INSERT',
  create: 'CREATE',
  restore: 'INSERT',
  delete: 'DELETE',
  purge: 'DELETE',
  link: 'LINK_RECORD',
  unlink: 'UNLINK_RECORD',
}
/** Types of changes whose kind says less than their label. */
const LABELLED_TYPES: Partial<Record<LabelKey, string>> = {
  records_linked: 'LINK_RECORD',
  records_unlinked: 'UNLINK_RECORD',
  rename_table_to: 'RENAME',
  rename_field_in_table_to: 'RENAME',
  rename_view_in_table_to: 'RENAME',
}

/** The operation types of the specification (§3) for an entry of the log. */
function typesOf({ kind, label, records }: Action): [string, string] {
  const [owner = '', verb = ''] = kind.split('.')
  const type = LABELLED_TYPES[label.key] ?? VERB_TYPES[verb] ?? 'UPDATE'
  // Links have no type for many records.
  const isBulk = owner === 'records' && records > 1 && !type.endsWith('LINK_RECORD')
  return [OWNER_TYPES[owner] ?? 'META', isBulk ? `BULK_${type}` : type]
}

function readFilter(query: URLSearchParams): z.output<typeof ActivityFilter> {
  const tableId = query.get('tableId')
  const recordId = query.get('rowId')
  if (recordId !== null && tableId === null) throw badRequest(m.activity_error_row_needs_table())
  const given = {
    actorId: query.get('userId') ?? undefined,
    kinds: query.get('kinds')?.split(','),
    from: query.get('from') ?? undefined,
    to: query.get('to') ?? undefined,
    ...(recordId !== null && tableId !== null
      ? { record: { tableId, recordId: /^\d{1,15}$/.test(recordId) ? Number(recordId) : recordId } }
      : tableId !== null && { tableId }),
  }
  return readBody(ActivityFilter, given)
}

function readNumber(
  query: URLSearchParams,
  name: string,
  { least, most }: { least: number; most: number },
): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < least || value > most) {
    throw badRequest(m.activity_error_number({ name, least, most }))
  }
  return value
}
