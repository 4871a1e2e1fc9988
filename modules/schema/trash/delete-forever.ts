import type { Actor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import type { Table } from '../../../src/core/model.ts'
import { forgetParts } from '../../../src/db/change-log.ts'
import { foreignSourceOf, type SchemaContext } from '../change/index.ts'
import { type LinkParts, partsOfLink, partsOutside, partsWhere } from '../links/index.ts'
import { purgeParts } from './purge.ts'

const isTrashed = ({ deletedAt }: { deletedAt: string | null }): boolean => deletedAt !== null

/**
 * Deletes a field of the trash forever, with its column; a link with all that it consists of.
 *
 * @throws FIELD_NOT_FOUND where it is not in the trash of a live table; PERMISSION_DENIED below creator; BAD_REQUEST
 *   for a field of a connected database, whose column is not ours
 */
export async function deleteFieldForever(
  context: SchemaContext,
  actor: Actor,
  fieldId: string,
): Promise<string> {
  const field = await context.store.findField(fieldId)
  const table = field && (await context.store.findTable(field.tableId))
  if (!table || table.deletedAt !== null || field.deletedAt === null)
    throw notFound('Field', fieldId.slice(0, 64))
  await context.bases.require(table.baseId)
  await context.access.authorize(actor, 'field.purge', table.baseId)
  await refuseForeign(context, table)
  const parts = partsWhere(await partsOfLink(context, field), isTrashed)
  await forget(
    context,
    actor,
    { table, fieldTitle: field.title },
    { ...parts, fields: [field, ...parts.fields] },
  )
  return table.baseId
}

/**
 * Deletes a table of the trash forever, with its records, their history, and the links that led to it.
 *
 * @throws TABLE_NOT_FOUND where it is not in the trash; PERMISSION_DENIED below creator; BAD_REQUEST for a table of a
 *   connected database, which is not ours
 */
export async function deleteTableForever(
  context: SchemaContext,
  actor: Actor,
  tableId: string,
): Promise<string> {
  const table = await context.store.findTable(tableId)
  if (!table || table.deletedAt === null) throw notFound('Table', tableId.slice(0, 64))
  await context.bases.require(table.baseId)
  await context.access.authorize(actor, 'table.purge', table.baseId)
  await refuseForeign(context, table)
  const parts = partsWhere(await partsOutside(context, table), isTrashed)
  await forget(context, actor, { table }, { ...parts, tables: [table, ...parts.tables] })
  return table.baseId
}

async function forget(
  context: SchemaContext,
  actor: Actor,
  of: { table: Table; fieldTitle?: string },
  { fields, tables }: LinkParts,
): Promise<void> {
  const fieldIds = fields.map(({ id }) => id)
  const tableIds = tables.map(({ id }) => id)
  const { baseId } = of.table
  // The metadata forgets them first, so stopping would leave a part of it.
  const work = { ...of, kind: 'purge', baseId, canCancel: false } as const
  await context.kernel.works.follow(actor, work, async () => {
    await purgeParts(context, baseId, new Set([...fieldIds, ...tableIds]))
    await forgetParts(await context.kernel.sources.engine(baseId), { tableIds, fieldIds })
  })
}

async function refuseForeign(context: SchemaContext, table: Table): Promise<void> {
  if (await foreignSourceOf(context, table))
    throw badRequest('Tables and fields of a connected database can’t be deleted forever here')
}
