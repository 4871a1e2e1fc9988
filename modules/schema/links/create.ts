import { type Actor, actorIdOf } from '../../../src/core/actor.ts'
import { badRequest } from '../../../src/core/errors.ts'
import { isSingleLink } from '../../../src/core/fields/link-options.ts'
import type { Field } from '../../../src/core/model.ts'
import { pluralOf, singularOf } from '../../../src/core/nouns.ts'
import { m } from '../../../src/messages.gen.ts'
import { type FieldPosition, openTable, type SchemaContext, withFreshName } from '../change/index.ts'
import { checkTitle, type NewField } from '../model/index.ts'
import {
  addForeignKey,
  addInverse,
  addJunction,
  columnStatements,
  type Ends,
  linkDefinition,
  type NewLink,
  openEnds,
  placeInverse,
  readNewLink,
  requireLinkable,
  requireRelated,
  requireViewOf,
} from './plan.ts'

/**
 * Links a table with another, or with itself, in one change: the field, its reverse in the other table, and a foreign
 * key in the child table or a junction table.
 *
 * @throws TABLE_NOT_FOUND for either table; DUPLICATE_ALIAS; BAD_REQUEST for tables that cannot be linked
 */
export async function createLink(
  context: SchemaContext,
  actor: Actor,
  tableId: string,
  input: NewField,
  position: FieldPosition,
): Promise<Field> {
  const { store, apply } = context
  const { table } = await openTable(context, actor, 'field.create', tableId)
  refuseRules(input)
  const link = readNewLink(input.options)
  const title = input.title === undefined ? null : checkTitle('field', input.title)
  await requireRelated(context, table.baseId, link.relatedTableId)
  await requireViewOf(context, link.relatedTableId, link.viewId)

  const created = await withFreshName((suffix) =>
    apply(actor, table.baseId, async (change) => {
      const ends = await openEnds(context, tableId, link.relatedTableId)
      await requireLinkable(context, [ends.own.model.table, ends.related.model.table])
      if (title !== null) ends.own.requireTitle(title)
      const field = addOwnField(ends, input, link, title)
      const storage =
        link.kind === 'mm'
          ? await addJunction(context, change, actorIdOf(actor), ends, field, link, suffix)
          : addForeignKey(ends, field, link, input.required ?? false, suffix)
      addInverse(ends, field, link)
      for (const statement of columnStatements(change, ends)) await change.tx.run(statement)
      const fields = [...new Set([...ends.own.added, ...ends.related.added])]
      const { db } = context.kernel.meta
      const times = { createdAt: change.now, updatedAt: change.now, deletedAt: null }
      return {
        statements: [
          ...storage.statements,
          ...fields.map((added) =>
            db
              .insert(store.fields)
              .values({ ...added, ...times, wireMeta: added === field ? (input.wireMeta ?? null) : null }),
          ),
          ...(await context.views.forNewField(ends.own.model, field, position, actor)),
          ...(await placeInverse(context, ends, field)),
        ],
        entry: { kind: 'field.create', tableId, detail: { fieldId: field.id } },
        altered: { fields: fields.map((added) => ({ ...added, deletedAt: null })), checked: [field.id] },
        tableIds: [...new Set([tableId, link.relatedTableId, ...storage.tableIds])],
        result: field,
      }
    }),
  )
  return (await store.load(tableId)).field(created.id) ?? created
}

function refuseRules({ unique, required, defaultValue, options }: NewField): void {
  if (unique) throw badRequest(m.schema_error_unique_link())
  if (required && options?.kind !== 'bt') throw badRequest(m.schema_error_required_link())
  if (defaultValue != null && defaultValue !== '') throw badRequest(m.schema_error_link_default())
}

function addOwnField(ends: Ends, input: NewField, link: NewLink, title: string | null): Field {
  const name = ends.related.model.table.title
  return ends.own.add({
    title: title ?? ends.own.freeTitle(isSingleLink(link) ? singularOf(name) : pluralOf(name)),
    ...linkDefinition(ends, input.type, link),
    description: input.description?.trim() || null,
  })
}
