import { eq } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest } from '../../../src/core/errors.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { formatValue } from '../../../src/core/fields/read.ts'
import type { Field, Person } from '../../../src/core/model.ts'
import { type ColumnValue, pagesOf } from '../../../src/db/column-values.ts'
import { type ReadValues, readNames, recordsByName } from '../../../src/db/names-of-records.ts'
import {
  actorIdOf,
  type CellsWrite,
  type ChangeContext,
  type SchemaContext,
  withFreshName,
} from '../change/index.ts'
import {
  addInverse,
  keepByKey,
  keepByPairs,
  type MarkedParts,
  type NewLink,
  openEnds,
  ownSide,
  physicalOf,
  placeInverse,
  readNewLink,
  requireLinkable,
  requireRelated,
  requireViewOf,
  writeLinks,
} from '../links/index.ts'
import {
  checkTitle,
  definitionOf,
  type FieldDefinition,
  type FieldPatch,
  getField,
  type TableModel,
} from '../model/index.ts'
import { type ConversionPreview, refuseConversion } from './conversion.ts'
import type { ReadableValues } from './frozen-values.ts'

const MAX_SAMPLES = 20

/** True for a change of a stored field into a link: its values are taken for names of records. */
export const becomesLink = (field: Pick<Field, 'type'>, type: Field['type'] = field.type): boolean =>
  fieldType(type).computed === 'link' && fieldType(field.type).computed !== 'link'

/**
 * Turns a field into a link to the records that its values name. What names none is left out; the old
 * column keeps all values for undo.
 *
 * @throws as `createLink`; BAD_REQUEST for the display field, and for a table whose records have no stored name
 */
export async function convertToLink(
  context: SchemaContext,
  actor: Actor,
  field: Field,
  { wireMeta, ...patch }: FieldPatch,
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
        if (current.isDisplay)
          throw badRequest(`Field "${current.title}" is the display field and can’t become a link`)
        const title = patch.title === undefined ? current.title : checkTitle('field', patch.title)
        if (title !== current.title) ends.own.requireTitle(title)
        const made: Field = {
          ...current,
          ...ownSide(ends, patch.type ?? 'Links', link),
          description:
            patch.description === undefined ? current.description : patch.description?.trim() || null,
          title,
          columnName: '',
          unique: false,
          required: false,
          defaultValue: null,
        }
        const parts =
          link.kind === 'mm'
            ? await keepByPairs(context, change, actorIdOf(actor), ends, made, link, suffix)
            : keepByKey(ends, made, link, false, suffix)
        addInverse(ends, made, link)
        for (const statement of physicalOf(change, ends)) await change.tx.run(statement)
        const wanted = { own: ends.own.model, related: ends.related.model, before: current, kind: link.kind }
        const count = await writeLinks(change, wanted, parts.target, actorIdOf(actor))
        const added = [...new Set([...ends.own.added, ...ends.related.added])]
        const { db } = context.kernel.meta
        const times = { createdAt: change.now, updatedAt: change.now, deletedAt: null, wireMeta: null }
        const [before, after] = [definitionOf(current), definitionOf(made)]
        return {
          statements: [
            ...parts.statements,
            ...added.map((each) => db.insert(store.fields).values({ ...each, ...times })),
            ...(await placeInverse(context, ends, made)),
            db
              .update(store.fields)
              .set({ ...after, ...(wireMeta !== undefined && { wireMeta }), updatedAt: change.now })
              .where(eq(store.fields.id, field.id)),
          ],
          entry: { kind: 'field.update', tableId: table.id, detail: { fieldId: field.id, before, after } },
          altered: {
            fields: [made, ...added].map((each) => ({ ...each, deletedAt: null })),
            checked: [field.id],
          },
          cells: { count, write: async () => {} },
          touchesRecords: true,
          tableIds: [...new Set([table.id, link.relatedTableId, ...parts.tableIds])],
          result: undefined,
        }
      },
      { work: { kind: 'convert', table, fieldTitle: field.title } },
    ),
  )
  return getField(await store.load(table.id), field.id)
}

/** What a change of a field into a link would keep and lose; nothing is written. */
export async function previewLink(
  context: SchemaContext,
  field: Field,
  patch: Pick<FieldPatch, 'type' | 'options'>,
): Promise<ConversionPreview> {
  const own = await context.store.load(field.tableId)
  const { kind, relatedTableId } = await checkConversion(context, field, patch)
  const related = await context.store.load(relatedTableId)
  const engine = await context.kernel.sources.engine(own.table.baseId)
  const read: ReadValues = (statement) => engine.all<ColumnValue>(statement, { scan: true })
  const names = await recordsByName(engine, related, read)
  const preview: ConversionPreview = { total: 0, converted: 0, lost: 0, samples: [] }
  const kept: ConversionPreview['samples'] = []
  for await (const page of pagesOf(engine, own, field, read)) {
    for (const { id, value } of page) {
      const { titles, missing } = readNames(formatValue(field, value), { kind }, names)
      const to = titles.length === 0 ? null : titles.join(', ')
      preview.total++
      if (missing.length > 0) preview.lost++
      else preview.converted++
      const list = missing.length > 0 ? preview.samples : kept
      if (list.length < MAX_SAMPLES) list.push({ recordId: id, from: value, to })
    }
  }
  preview.samples.push(...kept.slice(0, MAX_SAMPLES - preview.samples.length))
  return preview
}

/** What can be told before its turn. @throws NOT_IMPLEMENTED, BAD_REQUEST, TABLE_NOT_FOUND */
async function checkConversion(
  context: SchemaContext,
  field: Field,
  patch: Pick<FieldPatch, 'type' | 'options'>,
): Promise<NewLink> {
  // A REST client that sends another type and no relation means what it cannot have.
  const type = patch.type ?? field.type
  if (patch.options?.relatedTableId === undefined) refuseConversion(field, { type })
  const { readOnly, systemColumn, internal, isSecret } = fieldType(field.type)
  if (readOnly || systemColumn || internal || isSecret || field.isSystem) refuseConversion(field, { type })
  const link = readNewLink(patch.options)
  if (link.kind !== 'bt' && link.kind !== 'mm') {
    throw badRequest('Values can become a belongs-to (bt) or many-to-many (mm) link')
  }
  const { table } = await context.store.load(field.tableId)
  await requireRelated(context, table.baseId, link.relatedTableId)
  await requireViewOf(context, link.relatedTableId, link.viewId)
  return link
}

/** What `decide` of `writeField` is given beside the definition. */
export interface FieldAtItsTurn extends ChangeContext {
  model: TableModel
  field: Field
  /** The members of the base, whom names in texts may mean. */
  people(): Promise<Person[]>
  /** Where its values are under a definition: of a formula, what it gives at this moment. */
  values(definition: FieldDefinition): Promise<ReadableValues>
}

/** How an undo writes: the new definition, and the cells that come back with it. */
export interface FieldDecision {
  definition: FieldDefinition
  cells?: CellsWrite
  /** What comes or goes with it: the parts of a link that the field was made into. */
  also?: MarkedParts
}
