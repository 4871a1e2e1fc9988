import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Kernel } from '../../../src/kernel.ts'
import { json } from '../../../src/wire/answer.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { RecordsService } from '../../records/index.ts'
import type { SchemaReader } from '../../schema/index.ts'
import type { StorageService } from '../service.ts'

interface Deps {
  storage: StorageService
  auth: AuthService
  schema: Pick<SchemaReader, 'tables' | 'trashedFieldsOfBase'>
  records: Pick<RecordsService, 'deletedViews' | 'deleteViewForever'>
}

const id = z.string().min(1).max(64)
const PurgeBody = z.union([
  z.strictObject({ tableId: id }),
  z.strictObject({ fieldId: id }),
  z.strictObject({ changeId: z.int().min(1) }),
])

/** Trash of bases over REST. */
export function storageRest(kernel: Kernel, { storage, auth, schema, records }: Deps) {
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
        if ('tableId' in wanted) await storage.deleteTableForever(actor, wanted.tableId)
        else if ('fieldId' in wanted) await storage.deleteFieldForever(actor, wanted.fieldId)
        else await records.deleteViewForever(actor, baseId, wanted.changeId)
        return json({ deleted: 1 }, 200)
      },
      { detail: { summary: 'Delete a table, a field or a view of the trash forever' } },
    )
    .delete(
      '/api/v2/meta/trash/bases/:baseId',
      async ({ actor, params }) => {
        await storage.deleteBaseForever(actor, params.baseId)
        return json({ deleted: 1 }, 200)
      },
      { detail: { summary: 'Delete a base of the trash forever' } },
    )
}
