import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Person } from '../../../src/core/model.ts'
import type { ListedTrashItem } from '../../../src/core/trash.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { json } from '../../../src/wire/answer.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { RecordsService } from '../../records/index.ts'
import type { SchemaReader } from '../../schema/index.ts'
import { days, filter, items, page, pageOfAll } from '../input.ts'
import type { TrashListed } from '../list.ts'
import type { TrashService } from '../service.ts'

interface Deps {
  trash: TrashService
  auth: AuthService
  schema: Pick<SchemaReader, 'tables' | 'trashedFieldsOfBase'>
  records: Pick<RecordsService, 'deletedViews'>
}

const id = z.string().min(1).max(64)
const PurgeBody = z.union([
  z.strictObject({ tableId: id }),
  z.strictObject({ fieldId: id }),
  z.strictObject({ changeId: z.int().min(1) }),
])
const ItemsBody = z.strictObject({ items })
const SettingsBody = z.strictObject({ days })

/** The trash over REST. */
export function trashRest(kernel: Kernel, { trash, auth, schema, records }: Deps) {
  return new Elysia({ tags: ['Trash'] })
    .use(restBase(kernel, auth))
    .get(
      '/api/v2/meta/bases/:baseId/trash',
      async ({ actor, params: { baseId } }) => {
        const [fields, views] = await Promise.all([
          schema.trashedFieldsOfBase(actor, baseId),
          records.deletedViews(actor, baseId),
        ])
        const tables = await schema.tables(actor, baseId, { trash: true })
        return {
          tables: tables.map((table) => ({ id: table.id, title: table.title, deletedAt: table.deletedAt })),
          fields: fields.map((field) => ({
            id: field.id,
            title: field.title,
            tableId: field.tableId,
            deletedAt: field.deletedAt,
          })),
          views: views.actions.map((action) => ({
            changeId: action.id,
            title: action.viewTitle,
            tableId: action.tableId,
            deletedAt: action.at,
          })),
        }
      },
      { detail: { summary: 'List deleted tables, fields and views of a base' } },
    )
    .delete(
      '/api/v2/meta/bases/:baseId/trash',
      async ({ actor, params: { baseId }, body }) => {
        // Access is checked before the body.
        await schema.tables(actor, baseId)
        const wanted = readBody(PurgeBody, body)
        const ref =
          'tableId' in wanted
            ? { kind: 'table' as const, ...wanted }
            : 'fieldId' in wanted
              ? { kind: 'field' as const, ...wanted }
              : { kind: 'view' as const, ...wanted }
        await trash.purge(actor, baseId, [ref])
        return json({ deleted: 1 }, 200)
      },
      { detail: { summary: 'Delete a table, a field or a view of the trash forever' } },
    )
    .get(
      '/api/v2/meta/bases/:baseId/trash/items',
      async ({ actor, params: { baseId }, query }) => {
        const { keptDays } = await trash.retention(actor, baseId)
        const found = await trash.list(actor, baseId, readBody(page, asked(query)))
        return { list: presentItems(found).map(({ base: _, ...item }) => item), cursor: found.next, keptDays }
      },
      { detail: { summary: 'List the deleted records, files, fields, views and tables of a base' } },
    )
    .post(
      '/api/v2/meta/bases/:baseId/trash/restore',
      async ({ actor, params: { baseId }, body }) => {
        await trash.retention(actor, baseId)
        return json(await trash.restore(actor, baseId, readBody(ItemsBody, body).items), 200)
      },
      { detail: { summary: 'Restore items of the trash' } },
    )
    .post(
      '/api/v2/meta/bases/:baseId/trash/purge',
      async ({ actor, params: { baseId }, body }) => {
        await trash.retention(actor, baseId)
        return json(await trash.purge(actor, baseId, readBody(ItemsBody, body).items), 200)
      },
      { detail: { summary: 'Delete items of the trash forever' } },
    )
    .post(
      '/api/v2/meta/bases/:baseId/trash/empty',
      async ({ actor, params: { baseId }, body }) => {
        await trash.retention(actor, baseId)
        return json(await trash.empty(actor, baseId, readBody(filter, body ?? {})), 200)
      },
      { detail: { summary: 'Delete everything in the trash of a base forever' } },
    )
    .get(
      '/api/v2/meta/bases/:baseId/trash/settings',
      ({ actor, params: { baseId } }) => trash.retention(actor, baseId),
      { detail: { summary: 'Read how long a base keeps deleted items' } },
    )
    .patch(
      '/api/v2/meta/bases/:baseId/trash/settings',
      async ({ actor, params: { baseId }, body }) => {
        await trash.retention(actor, baseId)
        await trash.setRetention(actor, baseId, readBody(SettingsBody, body).days)
        return json(await trash.retention(actor, baseId), 200)
      },
      { detail: { summary: 'Set how long a base keeps deleted items' } },
    )
    .get(
      '/api/v2/meta/trash/items',
      async ({ actor, query }) => {
        const found = await trash.listAll(actor, readBody(pageOfAll, asked(query)))
        return {
          list: presentItems(found),
          cursor: found.next,
          unread: found.unread,
          unreadable: found.unreadable,
        }
      },
      { detail: { summary: 'List the deleted items of all bases, and deleted bases' } },
    )
    .get(
      '/api/v2/meta/trash/bases',
      async ({ actor }) => {
        const { bases, people } = await trash.bases(actor)
        const byId = new Map(people.map((person) => [person.id, person]))
        return {
          list: bases.map(({ base, deletedBy, expiresAt }) => ({
            id: base.id,
            title: base.title,
            deletedAt: base.deletedAt,
            deletedBy: presentPerson(byId.get(deletedBy ?? '')),
            expiresAt,
          })),
        }
      },
      { detail: { summary: 'List deleted bases' } },
    )
    .post(
      '/api/v2/meta/trash/bases/:baseId/restore',
      async ({ actor, params }) => {
        const { base, renamed, closedLinks } = await trash.restoreBase(actor, params.baseId)
        return json({ id: base.id, title: base.title, renamed, closedLinks }, 200)
      },
      { detail: { summary: 'Restore a deleted base' } },
    )
    .delete(
      '/api/v2/meta/trash/bases/:baseId',
      async ({ actor, params }) => {
        await trash.purgeBase(actor, params.baseId)
        return json({ deleted: 1 }, 200)
      },
      { detail: { summary: 'Delete a base of the trash forever' } },
    )
}

/** The parameters of a list as the service takes them: `kinds` with commas, `limit` as a number. */
const asked = ({ kinds, limit, ...query }: Record<string, string | undefined>): Record<string, unknown> => ({
  ...query,
  ...(kinds !== undefined && { kinds: kinds.split(',') }),
  ...(limit !== undefined && { limit: /^\d{1,9}$/.test(limit) ? Number(limit) : limit }),
})

function presentItems<Item extends ListedTrashItem>({ items: found, people }: TrashListed<Item>) {
  const byId = new Map(people.map((person) => [person.id, person]))
  return found.map((item) => ({ ...item, deletedBy: presentPerson(byId.get(item.deletedBy ?? '')) }))
}

const presentPerson = (person: Person | undefined) =>
  person ? { id: person.id, email: person.email, display_name: person.displayName } : null
