import type { TableProgress } from '../../../src/core/base-imports.ts'
import { AppError } from '../../../src/core/errors.ts'
import { type Choice, withChoices } from '../../../src/core/fields/choices.ts'
import { type FieldTypeName, fieldType } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field, Table, TableSchema } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import { MAX_FIELDS, type NewField, uniqueTitle } from '../../schema/index.ts'
import type { LinkPlan, SourceField, SourceTable } from '../source.ts'
import { type ImportedObject, NAMES } from '../store.ts'
import {
  type FieldState,
  type KnownField,
  type KnownTable,
  problem,
  type RunContext,
  storingField,
} from './context.ts'
import { fieldTitle, followTitles, isTitled, tableTitle } from './titles.ts'

/** Fields that every table has. */
const SYSTEM_FIELDS = 10

/**
 * Creates the tables, stored fields and links that the source has and the base has not yet. Computed fields follow when
 * the records are there. A table says by its `meta` which one of the source it is, so that one whose creation was
 * interrupted is found again.
 */
export async function writeSchema(context: RunContext): Promise<void> {
  const { base, row, store, state, services, actor } = context
  const [tableObjects, fieldObjects, nameObjects, existing] = await Promise.all([
    store.objects(row.id, 'table'),
    store.objects(row.id, 'field'),
    store.objects(row.id, NAMES),
    services.schema.tables(actor, row.baseId),
  ])
  const live = new Map(existing.map((table) => [table.id, table]))
  const byMark = new Map(existing.map((table) => [markOf(table.meta), table.id]))
  await context.report(base.problems)
  await followTableTitles(context, tableObjects, live)
  for (const source of base.tables) {
    context.signal.throwIfAborted()
    const known = tableObjects.get(source.id)?.targetId ?? byMark.get(mark(row.id, source.id))
    if (known !== undefined && !live.has(known)) {
      await context.report([
        problem('skipped', m.base_imports_reason_table_deleted(), { tableTitle: source.title }),
      ])
      continue
    }
    const schema =
      known === undefined ? await createTable(context, source) : await services.schema.table(actor, known)
    if (!schema) continue
    const isAdopted = tableObjects.has(source.id)
    const table = await adoptTable(context, source, schema, fieldObjects, isAdopted)
    for (const { id } of source.fields) {
      const names = nameObjects.get(id)?.targetId
      const isLive = schema.fields.some((field) => field.id === names)
      if (names !== undefined) table.names.set(id, isLive ? names : null)
    }
    context.tables.set(source.id, table)
    await context.save(
      store.storing(row.id, 'table', [
        { sourceId: source.id, targetId: table.id, digest: source.title, pending: null, run: row.run },
      ]),
    )
  }
  for (const table of context.tables.values()) await writeLinks(context, table)
  const earlier = new Map(state.tables.map((progress) => [progress.sourceId, progress]))
  state.tables = [...context.tables.values()].map(
    ({ source, id }): TableProgress =>
      earlier.get(source.id) ?? {
        sourceId: source.id,
        title: source.title,
        tableId: id,
        read: 0,
        added: 0,
        changed: 0,
        removed: 0,
        isDone: false,
      },
  )
}

const mark = (importId: string, sourceId: string): string => `${importId} ${sourceId}`

const markOf = (meta: Record<string, unknown>): string | null =>
  typeof meta.importedFrom === 'string' ? meta.importedFrom : null

/** A new table with its stored fields; null if it cannot be created. */
async function createTable(context: RunContext, source: SourceTable): Promise<TableSchema | null> {
  const { services, actor, row } = context
  const fields: NewField[] = []
  const ordered = primaryFirst(source)
  for (const field of ordered) {
    if (field.plan.as !== 'stored' || fields.length >= MAX_FIELDS - SYSTEM_FIELDS) continue
    fields.push(definitionOf(field, field.plan, fields))
  }
  const [first] = fields
  if (first) first.isDisplay = true
  const others = await services.schema.tables(actor, row.baseId)
  const title = uniqueTitle(tableTitle(source.title), others)
  if (title !== source.title) {
    await context.report([
      problem('changed', m.base_imports_reason_renamed({ title }), { tableTitle: source.title }),
    ])
  }
  let reason = ''
  // Where a field is refused, `adoptTable` creates the others one by one and reports it.
  for (const accepted of [fields, fields.slice(0, 1), []]) {
    try {
      return await services.schema.createTable(actor, row.baseId, {
        title,
        description: source.description?.slice(0, 10_000) ?? null,
        meta: { importedFrom: mark(row.id, source.id) },
        // A table without stored fields gets the default one.
        ...(accepted.length > 0 && { fields: accepted }),
      })
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'BAD_REQUEST') throw error
      reason = error.message
    }
  }
  await context.report([problem('skipped', reason, { tableTitle: source.title })])
  return null
}

const primaryFirst = ({ fields, primaryFieldId }: SourceTable): SourceField[] => [
  ...fields.filter(({ id }) => id === primaryFieldId),
  ...fields.filter(({ id }) => id !== primaryFieldId),
]

/** A stored field with a free title. */
const definitionOf = (
  source: SourceField,
  { type, options }: { type: NewField['type']; options: NewField['options'] },
  others: readonly { title?: string }[],
): NewField => ({
  title: uniqueTitle(
    fieldTitle(source.title, fieldType(type).label()),
    others.map(({ title = '' }) => ({ title })),
  ),
  type,
  options: options ?? {},
  description: source.description?.slice(0, 10_000) ?? null,
})

/** The kind of plan by which a field of each mode was created. */
const PLAN_OF: Record<FieldState['mode'], SourceField['plan']['as']> = {
  stored: 'stored',
  link: 'link',
  inverse: 'link',
  computed: 'computed',
  plain: 'computed',
}

/** True if the field that was created for one of the source still takes its values. */
function isSameKind({ mode, type }: FieldState, { plan }: SourceField, counterpart: Field): boolean {
  if (PLAN_OF[mode] !== plan.as) return false
  return plan.as !== 'stored' || takesValues(type ?? counterpart.type, plan.type)
}

/** True if fields of a type take all values of another: texts all but people and files, decimals also whole numbers. */
function takesValues(own: FieldTypeName, given: FieldTypeName): boolean {
  if (own === given) return true
  const { family, optionsLimitValues } = fieldType(own)
  const other = fieldType(given)
  if (family === 'text') return !other.people && !other.holdsFiles
  if (optionsLimitValues || family === undefined) return false
  return family === other.family || (family === 'decimal' && other.family === 'integer')
}

/**
 * Finds the counterparts of a table's fields, and adds those that are new in the source.
 *
 * @param isAdopted true if this was done before: fields without a known counterpart are those of users then
 */
async function adoptTable(
  context: RunContext,
  source: SourceTable,
  schema: TableSchema,
  objects: ReadonlyMap<string, { targetId: string; digest: string | null }>,
  isAdopted: boolean,
): Promise<KnownTable> {
  const live = new Map(schema.fields.map((field) => [field.id, field]))
  const taken = new Set([...objects.values()].map(({ targetId }) => targetId))
  const table: KnownTable = {
    source,
    id: schema.table.id,
    fields: new Map(),
    names: new Map(),
    deleted: new Set(),
  }
  const keep = async (known: KnownField) => {
    table.fields.set(known.source.id, known)
    taken.add(known.id)
    await context.save(storingField(context, known))
  }
  // Of a table that was just created, or whose creation was interrupted: its fields in their order.
  const unknown = isAdopted
    ? []
    : schema.fields.filter((field) => !field.isSystem && !field.isPrimaryKey && !taken.has(field.id))
  for (const field of source.fields) {
    const object = objects.get(field.id)
    const counterpart = object && live.get(object.targetId)
    if (!counterpart) continue
    const state: FieldState = JSON.parse(object.digest ?? '{"mode":"stored"}')
    // A field of another kind has no values for this one and would empty it. A new one is created for it below.
    if (!isSameKind(state, field, counterpart)) continue
    table.fields.set(field.id, { source: field, id: counterpart.id, state })
    if (field.plan.as === 'stored') await addChoices(context, field, counterpart)
  }
  // Before new fields are created, which may have the former titles.
  await followFieldTitles(context, table, live)
  for (const field of primaryFirst(source)) {
    if (table.fields.has(field.id)) continue
    const object = objects.get(field.id)
    if (object && !live.has(object.targetId)) {
      table.deleted.add(field.id)
      continue
    }
    if (object && field.plan.as !== 'skipped')
      await context.report([problem('changed', m.base_imports_note_other_kind(), placeOf(source, field))])
    if (field.plan.as === 'skipped') {
      await context.report([problem('skipped', field.plan.reason, placeOf(source, field))])
      continue
    }
    if (field.note !== undefined)
      await context.report([problem('changed', field.note, placeOf(source, field))])
    if (field.plan.as !== 'stored') continue
    const wanted = definitionOf(field, field.plan, [])
    const created =
      unknown.find(
        ({ id, title, type }) => !taken.has(id) && type === wanted.type && isTitled(title, wanted.title!),
      ) ?? (await createStored(context, source, field, schema.table.id))
    if (!created) continue
    const state: FieldState = {
      mode: 'stored',
      type: field.plan.type,
      ...(object && { isReplacement: true }),
    }
    await keep({ source: field, id: created.id, state })
  }
  return table
}

/** Gives tables their new titles in the source; `writeSchema` remembers them. */
async function followTableTitles(
  context: RunContext,
  objects: ReadonlyMap<string, ImportedObject>,
  live: ReadonlyMap<string, Table>,
): Promise<void> {
  const { base, services, actor, row } = context
  const known = base.tables.flatMap((source) => {
    const object = objects.get(source.id)
    const table = object && live.get(object.targetId)
    if (!table || object.digest === null) return []
    const { id, title: here } = table
    return {
      here,
      before: tableTitle(object.digest),
      now: tableTitle(source.title),
      about: { tableTitle: source.title },
      async rename(wanted: string) {
        const tables = await services.schema.tables(actor, row.baseId)
        const others = tables.filter((other) => other.id !== id)
        const title = uniqueTitle(wanted, others)
        await services.schema.updateTable(actor, id, { title })
        return title
      },
    }
  })
  await followTitles(context, known)
}

/** Gives fields their new titles in the source, and remembers them for the next run. */
async function followFieldTitles(
  context: RunContext,
  table: KnownTable,
  live: ReadonlyMap<string, Field>,
): Promise<void> {
  const { services, actor } = context
  const renamed = [...table.fields.values()].filter(({ source, state }) => state.title !== source.title)
  if (renamed.length === 0) return
  const known = renamed.map(({ id, source, state }) => {
    const here = live.get(id)?.title ?? ''
    return {
      here,
      // An earlier version did not remember it.
      before: fieldTitle(state.title ?? source.title, here),
      now: fieldTitle(source.title, here),
      about: placeOf(table.source, source),
      async rename(wanted: string) {
        const { fields } = await services.schema.table(actor, table.id)
        const others = fields.filter((other) => other.id !== id)
        const title = uniqueTitle(wanted, others)
        await services.schema.updateField(actor, id, { title })
        return title
      },
    }
  })
  await followTitles(context, known)
  await context.save(renamed.flatMap((field) => storingField(context, field)))
}

const placeOf = (table: SourceTable, field: SourceField) => ({
  tableTitle: table.title,
  fieldTitle: field.title,
})

/** A field that the source got after the table was created; null if it cannot be created. */
async function createStored(
  context: RunContext,
  table: SourceTable,
  field: SourceField,
  tableId: string,
): Promise<Field | null> {
  if (field.plan.as !== 'stored') return null
  return createField(context, table, field, tableId, field.plan)
}

/** Creates a field under a free title; reports why it cannot be created and returns null then. */
export async function createField(
  { services, actor, report }: RunContext,
  table: SourceTable,
  field: SourceField,
  tableId: string,
  definition: Pick<NewField, 'type' | 'options'>,
  refuse: (reason: string) => Promise<void> = (reason) =>
    report([problem('skipped', reason, placeOf(table, field))]),
): Promise<Field | null> {
  const { fields } = await services.schema.table(actor, tableId)
  const { type, options } = definition
  try {
    return await services.schema.createField(actor, tableId, definitionOf(field, { type, options }, fields))
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error
    await refuse(error.message)
    return null
  }
}

/** Adds the options that a select has got in the source; those of this base stay. */
async function addChoices(
  { services, actor }: RunContext,
  { plan }: SourceField,
  field: Field,
): Promise<void> {
  if (plan.as !== 'stored' || plan.type !== field.type || !Array.isArray(plan.options.choices)) return
  const current = (field.options.choices ?? []) as Choice[]
  const given = plan.options.choices as { title: string; color?: string }[]
  const all = withChoices(
    current,
    given.map(({ title }) => title),
  )
  if (all === current) return
  const colors = new Map(given.map(({ title, color }) => [title, color]))
  const known = new Set(current.map(({ id }) => id))
  const choices = all.map((choice) =>
    known.has(choice.id) ? choice : { ...choice, color: colors.get(choice.title) ?? choice.color },
  )
  const options = { ...field.options, choices }
  await services.schema.updateField(actor, field.id, { options, seenChoices: current })
}

/** Creates the links of a table. The other side of a link, which comes with it, gets the title that it has there. */
async function writeLinks(context: RunContext, table: KnownTable): Promise<void> {
  for (const field of table.source.fields) {
    const { plan } = field
    if (plan.as !== 'link' || plan.isSecondSide) continue
    if (table.fields.has(field.id) || table.deleted.has(field.id)) continue
    context.signal.throwIfAborted()
    const related = context.tables.get(plan.tableId)
    if (!related) {
      const reason = m.base_imports_reason_link_target()
      await context.report([problem('skipped', reason, placeOf(table.source, field))])
      continue
    }
    const created =
      (await interruptedLink(context, table, field, related.id)) ??
      (await createLink(context, table, field, plan, related))
    if (created) await keepLink(context, table, related, field, plan, created)
  }
}

const createLink = (
  context: RunContext,
  table: KnownTable,
  field: SourceField,
  { kind }: LinkPlan,
  related: KnownTable,
): Promise<Field | null> =>
  createField(context, table.source, field, table.id, {
    type: 'Links',
    options: { kind, relatedTableId: related.id },
  })

/** The link that an interrupted step of the first run has created. In later runs, it may be one of a user. */
async function interruptedLink(
  { services, actor, tables, row }: RunContext,
  table: KnownTable,
  { title }: SourceField,
  relatedTableId: string,
): Promise<Field | null> {
  if (row.run > 1) return null
  const taken = new Set(
    [...tables.values()].flatMap(({ fields }) => [...fields.values()].map(({ id }) => id)),
  )
  const { fields } = await services.schema.table(actor, table.id)
  const found = fields.find(
    (field) =>
      linkOf(field)?.relatedTableId === relatedTableId &&
      !taken.has(field.id) &&
      isTitled(field.title, fieldTitle(title, field.title)),
  )
  return found ?? null
}

async function keepLink(
  context: RunContext,
  table: KnownTable,
  related: KnownTable,
  field: SourceField,
  { inverseFieldId }: LinkPlan,
  created: Field,
): Promise<void> {
  const { services, actor } = context
  const own: KnownField = { source: field, id: created.id, state: { mode: 'link' } }
  table.fields.set(field.id, own)
  const inverse = related.source.fields.find(({ id }) => id === inverseFieldId && id !== field.id)
  const inverseId = linkOf(created)?.inverseFieldId
  if (!inverse || !inverseId || related.fields.has(inverse.id)) {
    await context.save(storingField(context, own))
    const reason = m.base_imports_note_reverse({ table: related.source.title })
    await context.report([problem('note', reason, placeOf(table.source, field))])
    return
  }
  const { fields } = await services.schema.table(actor, related.id)
  const title = uniqueTitle(
    fieldTitle(inverse.title, created.title),
    fields.filter(({ id }) => id !== inverseId),
  )
  await services.schema.updateField(actor, inverseId, { title })
  const other: KnownField = { source: inverse, id: inverseId, state: { mode: 'inverse' } }
  related.fields.set(inverse.id, other)
  await context.save([...storingField(context, own), ...storingField(context, other)])
}
