import { eq } from 'drizzle-orm'
import { type Actor, actorIdOf } from '../../../src/core/actor.ts'
import { badRequest } from '../../../src/core/errors.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { formatValue } from '../../../src/core/fields/read.ts'
import { fieldInZone } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import { type ColumnValue, pagesOf } from '../../../src/db/column-values.ts'
import { namesInZone, type ReadValues, readNames, recordsByName } from '../../../src/db/names-of-records.ts'
import { m } from '../../../src/messages.gen.ts'
import { type FrozenAt, type SchemaContext, withFreshName } from '../change/index.ts'
import {
  addForeignKey,
  addInverse,
  addJunction,
  columnStatements,
  type LoadNames,
  linkDefinition,
  type NewLink,
  openEnds,
  placeInverse,
  readNewLink,
  requireLinkable,
  requireRelated,
  requireViewOf,
  writeLinks,
} from '../links/index.ts'
import { checkTitle, definitionOf, type FieldPatch, getField } from '../model/index.ts'
import { type ConversionPreview, createPreview, loggedMeta, refuseConversion } from './conversion.ts'

/** True if a stored field is converted to a link, whose records its values name. */
export const becomesLink = (field: Pick<Field, 'type'>, type: Field['type'] = field.type): boolean =>
  fieldType(type).computed === 'link' && fieldType(field.type).computed !== 'link'

/**
 * Converts a field to a link to the records that its values name. Values that name no record are dropped; the old column
 * stays for undo.
 *
 * @param names finds the records in another way than by display value
 * @param timeZone in which the values, and the names of the records, are written; by default UTC
 * @throws as `createLink`; BAD_REQUEST for the display field, and for a table whose display field is not stored
 */
export async function convertToLink(
  context: SchemaContext,
  actor: Actor,
  field: Field,
  { wireMeta, ...patch }: FieldPatch,
  { names, timeZone }: { names?: LoadNames; timeZone?: string } = {},
): Promise<Field> {
  const { store, apply } = context
  const { table } = await store.load(field.tableId)
  const link = await checkConversion(context, field, patch)
  await withFreshName((suffix) =>
    apply(
      actor,
      table.baseId,
      async (change) => {
        const ends = await openEnds(context, table.id, link.relatedTableId)
        await requireLinkable(context, [ends.own.model.table, ends.related.model.table])
        const current = getField(ends.own.model, field.id)
        if (current.isDisplay) throw badRequest(m.schema_error_display_field_link({ field: current.title }))
        const title = patch.title === undefined ? current.title : checkTitle('field', patch.title)
        if (title !== current.title) ends.own.requireTitle(title)
        const converted: Field = {
          ...current,
          ...linkDefinition(ends, patch.type ?? 'Links', link),
          description:
            patch.description === undefined ? current.description : patch.description?.trim() || null,
          title,
          columnName: '',
          unique: false,
          required: false,
          defaultValue: null,
        }
        const storage =
          link.kind === 'mm'
            ? await addJunction(context, change, actorIdOf(actor), ends, converted, link, suffix)
            : addForeignKey(ends, converted, link, false, suffix)
        addInverse(ends, converted, link)
        for (const statement of columnStatements(change, ends)) await change.tx.run(statement)
        const values = {
          own: ends.own.model,
          related: ends.related.model,
          before: current,
          kind: link.kind,
          names,
          timeZone,
        }
        const count = await writeLinks(change, values, storage.target)
        const added = [...new Set([...ends.own.added, ...ends.related.added])]
        const { db } = context.kernel.meta
        const times = { createdAt: change.now, updatedAt: change.now, deletedAt: null, wireMeta: null }
        const [before, after] = [definitionOf(current), definitionOf(converted)]
        const frozenAt: FrozenAt = { now: change.now, timeZone }
        return {
          statements: [
            ...storage.statements,
            ...added.map((each) => db.insert(store.fields).values({ ...each, ...times })),
            ...(await placeInverse(context, ends, converted)),
            db
              .update(store.fields)
              .set({ ...after, ...(wireMeta !== undefined && { wireMeta }), updatedAt: change.now })
              .where(eq(store.fields.id, field.id)),
          ],
          entry: {
            kind: 'field.update',
            tableId: table.id,
            detail: {
              fieldId: field.id,
              before,
              after,
              frozenAt,
              ...loggedMeta(ends.own.model, field.id, wireMeta),
            },
          },
          altered: {
            fields: [converted, ...added].map((each) => ({ ...each, deletedAt: null })),
            checked: [field.id],
          },
          cells: { count, write: async () => {} },
          touchesRecords: true,
          tableIds: [...new Set([table.id, link.relatedTableId, ...storage.tableIds])],
          result: undefined,
        }
      },
      { work: { kind: 'convert', table, fieldTitle: field.title } },
    ),
  )
  return getField(await store.load(table.id), field.id)
}

/**
 * Counts the values that a conversion to a link would keep and lose.
 *
 * @param timeZone as in `convertToLink`
 */
export async function previewLink(
  context: SchemaContext,
  field: Field,
  patch: Pick<FieldPatch, 'type' | 'options'>,
  timeZone = 'UTC',
): Promise<ConversionPreview> {
  const own = await context.store.load(field.tableId)
  const { kind, relatedTableId } = await checkConversion(context, field, patch)
  const related = await context.store.load(relatedTableId)
  const engine = await context.kernel.sources.engine(own.table.baseId)
  const read: ReadValues = (statement) => engine.all<ColumnValue>(statement, { scan: true })
  const names = await recordsByName(engine, namesInZone(related, timeZone), read)
  const shown = fieldInZone(field, timeZone)
  const preview = createPreview()
  try {
    for await (const page of pagesOf(engine, own, field, read)) {
      for (const { id, value } of page) {
        const { titles, missing } = readNames(formatValue(shown, value), { kind }, names)
        const to = titles.length === 0 ? null : titles.join(', ')
        preview.add({ recordId: id, from: value, to }, missing.length > 0)
      }
    }
  } finally {
    names.close()
  }
  return preview.result()
}

/** Checks a conversion before the write lease. @throws NOT_IMPLEMENTED, BAD_REQUEST, TABLE_NOT_FOUND */
async function checkConversion(
  context: SchemaContext,
  field: Field,
  patch: Pick<FieldPatch, 'type' | 'options'>,
): Promise<NewLink> {
  // Without a relation this is an ordinary change of type, which is not possible.
  const type = patch.type ?? field.type
  if (patch.options?.relatedTableId === undefined) refuseConversion(field, { type })
  const { readOnly, systemColumn, internal, isSecret } = fieldType(field.type)
  if (readOnly || systemColumn || internal || isSecret || field.isSystem) refuseConversion(field, { type })
  const link = readNewLink(patch.options)
  if (link.kind !== 'bt' && link.kind !== 'mm') {
    throw badRequest(m.schema_error_values_link())
  }
  const { table } = await context.store.load(field.tableId)
  await requireRelated(context, table.baseId, link.relatedTableId)
  await requireViewOf(context, link.relatedTableId, link.viewId)
  return link
}
