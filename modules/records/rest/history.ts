import { Elysia } from 'elysia'
import { z } from 'zod'
import { type Action, actionText } from '../../../src/core/actions.ts'
import type { Actor } from '../../../src/core/actor.ts'
import type { Person } from '../../../src/core/model.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { json } from '../../../src/wire/answer.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import { MAX_ACTIONS, type Undone } from '../history/index.ts'
import type { RecordsService } from '../service.ts'
import { queryOf, readInteger } from './parameters.ts'

interface Deps {
  records: RecordsService
  auth: AuthService
}

/** Without `entryId`, the caller’s own latest action. */
const EntryBody = z.strictObject({ entryId: z.int().min(1).optional() }).nullish()

const DEFAULT_LIMIT = 25
const BASE = '/api/v2/meta/bases/:baseId/history'

const PAGE_PARAMETERS = [
  {
    name: 'limit',
    in: 'query' as const,
    description: `Entries of the page, 1 to ${MAX_ACTIONS}`,
    schema: { type: 'integer' as const, minimum: 1, maximum: MAX_ACTIONS, default: DEFAULT_LIMIT },
  },
  {
    name: 'cursor',
    in: 'query' as const,
    description: 'The cursor of the page before',
    schema: { type: 'integer' as const, minimum: 1 },
  },
]

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
      detail: { summary: 'List what was done in a base, newest first', parameters: PAGE_PARAMETERS },
    })
    .get(
      '/api/v2/tables/:tableId/history',
      async ({ actor, params, request }) => {
        const { model } = await records.open(actor, params.tableId)
        return list(actor, model.table.baseId, model.table.id, request)
      },
      { detail: { summary: 'List what was done in a table, newest first', parameters: PAGE_PARAMETERS } },
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
  by: person && { id: person.id, email: person.email, display_name: person.displayName },
})

/** `kind` is null if there was nothing to undo or redo. */
const presentUndone = ({ kind, records, skipped }: Undone) => ({ kind, records, skipped })
