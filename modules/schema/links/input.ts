import { z } from 'zod'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import type { Table } from '../../../src/core/model.ts'
import type { SchemaContext } from '../change/index.ts'

const id = z.string().min(1).max(64)
const label = z.string().trim().max(255).optional()

/** What a caller says of a new link; its parts get their ids when they are made. */
const newLink = z.object({
  kind: z.enum(['hm', 'bt', 'mm', 'oo']),
  relatedTableId: id,
  /** False: the related table does not show the link. */
  createInverse: z.boolean().default(true),
  /** oo: true where this table keeps the key; by default the related one does. */
  holdsKey: z.boolean().default(false),
  viewId: id.nullish(),
  singular: label,
  plural: label,
})

/** A new link as it was asked for. */
export type NewLink = z.output<typeof newLink>

/** @throws BAD_REQUEST naming what is missing or does not fit */
export function readNewLink(options: FieldOptions | undefined): NewLink {
  const read = newLink.safeParse(options ?? {})
  if (read.success) return read.data
  const [issue] = read.error.issues
  const where = issue?.path.join('.')
  throw new AppError(
    'BAD_REQUEST',
    `Invalid link option '${where}': ${issue?.message}`,
    { issues: read.error.issues },
    'msg',
  )
}

/** @throws BAD_REQUEST for tables that cannot be linked: of different databases, or views of a database */
export async function requireLinkable(
  { store }: Pick<SchemaContext, 'store'>,
  tables: [Table, Table],
): Promise<void> {
  const ownSourceId = await store.ownSourceId(tables[0].baseId)
  for (const table of tables) {
    if (table.kind === 'view') throw badRequest(`${table.title} is a database view and can’t be linked`)
    if (table.isJunction) throw badRequest(`${table.title} is a junction table and can’t be linked`)
    if (table.sourceId !== ownSourceId) {
      throw badRequest(
        `${table.title} is in a connected database. To add a link, create a foreign key in the database and synchronise.`,
      )
    }
  }
}

/** @throws BAD_REQUEST where the view is none of the related table */
export async function requireViewOf(
  { store, views }: Pick<SchemaContext, 'store' | 'views'>,
  tableId: string,
  viewId: string | null | undefined,
): Promise<void> {
  if (viewId == null) return
  const model = await store.load(tableId)
  const found = await views.ofTable(model)
  if (found.some((view) => view.id === viewId)) return
  throw badRequest(`The view that limits the link does not belong to ${model.table.title}`)
}
