import { Elysia } from 'elysia'
import { z } from 'zod'
import { type Action, actionText } from '../../../src/core/actions.ts'
import type { Actor } from '../../../src/core/actor.ts'
import { notFound } from '../../../src/core/errors.ts'
import type { Person } from '../../../src/core/model.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { json } from '../../../src/wire/answer.ts'
import { describedBy } from '../../../src/wire/openapi.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { TableModel } from '../../schema/index.ts'
import { MAX_ACTIONS, MAX_KEPT_PEOPLE, type Undone, type UndoPreview } from '../history/index.ts'
import type { RecordsService } from '../service.ts'
import { parseRecordId } from '../table/index.ts'
import { queryOf, readInteger } from './parameters.ts'

interface Deps {
  records: RecordsService
  auth: AuthService
}

/** Without `entryId`, the caller’s own latest action. */
const EntryBody = z.strictObject({ entryId: z.int().min(1).optional() }).nullish()

const DEFAULT_LIMIT = 25
const BASE = '/api/v2/meta/bases/:baseId/history'

const VERSION = '/api/v2/tables/:tableId/records/:recordId/versions/:entryId'

const keep = z.array(z.string().min(1).max(64)).max(MAX_KEPT_PEOPLE).default([])
/** The moment of a table: a time, or the state before an entry. */
const MomentBody = z.union([
  z.strictObject({ keep, at: z.iso.datetime({ offset: true }) }),
  z.strictObject({ keep, before: z.int().min(1) }),
])

const PAGE_PARAMETERS = [
  {
    name: 'limit',
    in: 'query',
    description: `Entries of the page, 1 to ${MAX_ACTIONS}`,
    schema: { type: 'integer', minimum: 1, maximum: MAX_ACTIONS, default: DEFAULT_LIMIT },
  },
  {
    name: 'cursor',
    in: 'query',
    description: 'The cursor of the page before',
    schema: { type: 'integer', minimum: 1 },
  },
]

/** In `describedBy`, because parameters of a detail are lost on routes with parameters in their path. */
const PAGED = describedBy(() => ({ parameters: PAGE_PARAMETERS }))

const ENTRY_BODY = {
  required: false,
  content: {
    'application/json': {
      schema: {
        type: 'object' as const,
        properties: {
          entryId: {
            type: 'integer' as const,
            minimum: 1,
            description:
              'Id of an entry of the history. Optional: without it, the caller’s own latest action.',
          },
        },
      },
    },
  },
}

/** History of bases and tables, and undo and redo of single actions. */
export function historyRest(kernel: Kernel, { records, auth }: Deps) {
  async function list(actor: Actor, baseId: string, tableId: string | undefined, request: Request) {
    const query = new URLSearchParams(queryOf(request))
    const { actions, people, next } = await records.actions(actor, {
      baseId,
      ...(tableId !== undefined && { tableId }),
      before: readInteger(query, 'cursor', Number.MAX_SAFE_INTEGER),
      limit: readInteger(query, 'limit', MAX_ACTIONS) ?? DEFAULT_LIMIT,
    })
    const byId = new Map(people.map((person) => [person.id, person]))
    return {
      list: actions.map((action) => presentAction(action, byId.get(action.actorId ?? '') ?? null)),
      cursor: next,
    }
  }

  return new Elysia({ tags: ['History'] })
    .use(restBase(kernel, auth))
    .get(BASE, ({ actor, params, request }) => list(actor, params.baseId, undefined, request), {
      detail: { summary: 'List what was done in a base, newest first', ...PAGED },
    })
    .get(
      '/api/v2/tables/:tableId/history',
      async ({ actor, params, request }) => {
        const { model } = await records.open(actor, params.tableId)
        return list(actor, model.table.baseId, model.table.id, request)
      },
      { detail: { summary: 'List what was done in a table, newest first', ...PAGED } },
    )
    .post(
      `${BASE}/undo`,
      async ({ actor, params, body }) =>
        json(
          presentUndone(await records.undo(actor, params.baseId, readBody(EntryBody, body)?.entryId)),
          200,
        ),
      { detail: { summary: 'Undo an action', requestBody: ENTRY_BODY } },
    )
    .get(
      `${BASE}/:entryId/revert`,
      async ({ actor, params }) =>
        presentPreview(await records.previewUndo(actor, params.baseId, readEntryId(params.entryId))),
      { detail: { summary: 'Tell what reverting an action changes, and what stays' } },
    )
    .post(
      `${BASE}/:entryId/revert`,
      async ({ actor, params }) =>
        json(
          presentUndone(
            await records.undo(actor, params.baseId, readEntryId(params.entryId), { keepsChanged: true }),
          ),
          200,
        ),
      { detail: { summary: 'Revert an action, without what was changed since' } },
    )
    .get(
      '/api/v2/tables/:tableId/restore',
      async ({ actor, params: { tableId }, request }) => {
        await records.open(actor, tableId)
        const query = Object.fromEntries(
          [...new URLSearchParams(queryOf(request))].map(([name, value]) => [
            name,
            name === 'keep' ? value.split(',') : name === 'before' ? Number(value) : value,
          ]),
        )
        const { people, authors, ...preview } = await records.tableRestore.preview(actor, {
          tableId,
          ...readBody(MomentBody, query),
        })
        const byId = new Map(people.map((person) => [person.id, person]))
        return {
          ...preview,
          authors: authors.map(({ actorId, records: count }) => ({
            records: count,
            by: presentPerson(byId.get(actorId ?? '')),
          })),
        }
      },
      { detail: { summary: 'Tell what restoring a table to an earlier time changes' } },
    )
    .post(
      '/api/v2/tables/:tableId/restore',
      async ({ actor, params: { tableId }, body }) => {
        await records.open(actor, tableId)
        const moment = { tableId, ...readBody(MomentBody, body) }
        return json(await records.tableRestore.restore(actor, moment), 200)
      },
      { detail: { summary: 'Restore the records of a table to an earlier time' } },
    )
    .get(
      VERSION,
      async ({ actor, params }) => {
        const { model } = await records.open(actor, params.tableId)
        const preview = await records.recordRestore.preview(actor, versionOf(model, params))
        return {
          ...preview,
          changes: preview.changes.map(({ fieldId, ...change }) => ({
            field: model.field(fieldId)?.title ?? fieldId,
            ...change,
          })),
        }
      },
      { detail: { summary: 'Tell how an earlier version of a record differs' } },
    )
    .post(
      VERSION,
      async ({ actor, params }) => {
        const { model } = await records.open(actor, params.tableId)
        return json(await records.recordRestore.restore(actor, versionOf(model, params)), 200)
      },
      { detail: { summary: 'Restore an earlier version of a record' } },
    )
    .post(
      `${BASE}/redo`,
      async ({ actor, params, body }) =>
        json(
          presentUndone(await records.redo(actor, params.baseId, readBody(EntryBody, body)?.entryId)),
          200,
        ),
      { detail: { summary: 'Redo an action that was undone', requestBody: ENTRY_BODY } },
    )
}

const presentAction = (action: Action, person: Person | null) => ({
  id: action.id,
  at: action.at,
  kind: action.kind,
  label: actionText(action),
  state: action.state,
  records: action.records,
  table: action.tableId === null ? null : { id: action.tableId, title: action.tableTitle },
  view: action.viewId === null ? null : { id: action.viewId, title: action.viewTitle },
  by: presentPerson(person ?? undefined),
})

const presentPerson = (person: Person | undefined) =>
  person ? { id: person.id, email: person.email, display_name: person.displayName } : null

const presentPreview = ({ action, kept, people, ...counts }: UndoPreview) => {
  const byId = new Map(people.map((person) => [person.id, person]))
  return {
    label: actionText(action),
    ...counts,
    kept: {
      total: kept.total,
      is_partial: kept.isPartial,
      by: kept.by.map(({ actorId, count }) => ({ count, by: presentPerson(byId.get(actorId ?? '')) })),
      items: kept.items.map(({ actorId, at, ...item }) => ({
        table_id: item.tableId,
        record_id: item.recordId,
        record: item.recordTitle,
        field: item.fieldTitle,
        is_deleted: item.isDeleted,
        at,
        by: presentPerson(byId.get(actorId ?? '')),
      })),
    },
  }
}

/** @throws GENERIC_NOT_FOUND for anything but an entry's id */
function readEntryId(text: string): number {
  const id = Number(text)
  if (!Number.isSafeInteger(id) || id < 1) throw notFound('Action', text.slice(0, 64))
  return id
}

const versionOf = (model: TableModel, { recordId, entryId }: { recordId: string; entryId: string }) => ({
  tableId: model.table.id,
  recordId: parseRecordId(model, recordId),
  entryId: readEntryId(entryId),
})

/** `kind` is null if there was nothing to undo or redo. */
const presentUndone = ({ kind, records, skipped }: Undone) => ({ kind, records, skipped })
