import { Elysia } from 'elysia'
import { z } from 'zod'
import { badRequest } from '../../../src/core/errors.ts'
import type { RecordId } from '../../../src/core/model.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { json } from '../../../src/wire/answer.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import { MAX_TRASH_IDS, MAX_TRASH_PAGE, type TrashCursor } from '../history/index.ts'
import type { RecordsService } from '../service.ts'
import { queryOf, readInteger } from './parameters.ts'

interface Deps {
  records: RecordsService
  auth: AuthService
}

const recordId = z.union([z.int(), z.string().min(1).max(255)])
const ids = z.strictObject({ recordIds: z.array(recordId).min(1).max(MAX_TRASH_IDS) })
const deletion = z.strictObject({ changeId: z.int().min(1) })
const RestoreBody = z.union([ids, deletion])
const PurgeBody = z.union([ids, deletion, z.strictObject({ all: z.literal(true) })])

const DEFAULT_LIMIT = 25

/** Deleted records over `/api/v2/tables/{tableId}/trash`. */
export function trashRest(kernel: Kernel, { records, auth }: Deps) {
  return new Elysia({ prefix: '/api/v2/tables/:tableId/trash', tags: ['Records'] })
    .use(restBase(kernel, auth))
    .get(
      '/',
      async ({ actor, params: { tableId }, request }) => {
        const query = new URLSearchParams(queryOf(request))
        const { model } = await records.open(actor, tableId)
        const page = await records.trash.list(actor, {
          tableId,
          search: query.get('search')?.trim().slice(0, 500) || undefined,
          after: readCursor(query.get('cursor')),
          limit: readInteger(query, 'limit', MAX_TRASH_PAGE) ?? DEFAULT_LIMIT,
        })
        const people = new Map(page.people.map((person) => [person.id, person]))
        return {
          list: page.records.map(({ values, recordId: id, deletedBy, ...record }) => {
            const person = deletedBy === null ? undefined : people.get(deletedBy)
            return {
              id,
              ...record,
              deletedBy: person
                ? { id: person.id, email: person.email, display_name: person.displayName }
                : null,
              record: Object.fromEntries(
                model.fields.flatMap((field) =>
                  field.id in values ? [[field.title, values[field.id] ?? null]] : [],
                ),
              ),
            }
          }),
          cursor: page.next && `${page.next.changeId}~${page.next.recordId}`,
        }
      },
      { detail: { summary: 'List deleted records' } },
    )
    .post(
      '/restore',
      async ({ actor, params: { tableId }, body }) => {
        // Check access before the body, so that errors reveal nothing.
        await records.open(actor, tableId)
        const { restored } = await records.trash.restore(actor, { tableId, ...readBody(RestoreBody, body) })
        return json({ restored }, 200)
      },
      { detail: { summary: 'Restore deleted records' } },
    )
    .delete(
      '/',
      async ({ actor, params: { tableId }, body }) => {
        await records.open(actor, tableId)
        return records.trash.purge(actor, { tableId, ...readBody(PurgeBody, body) })
      },
      { detail: { summary: 'Delete records of the trash forever' } },
    )
}

/** @throws BAD_REQUEST for anything but the `cursor` of a page */
function readCursor(text: string | null): TrashCursor | undefined {
  if (text === null) return undefined
  const at = text.indexOf('~')
  const changeId = Number(text.slice(0, at))
  const id: RecordId = text.slice(at + 1)
  if (at < 1 || !Number.isSafeInteger(changeId) || id === '' || id.length > 255)
    throw badRequest(m.records_error_cursor())
  return { changeId, recordId: id }
}
