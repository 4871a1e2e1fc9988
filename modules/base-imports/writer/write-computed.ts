import type { ImportProblem } from '../../../src/core/base-imports.ts'
import type { UpdatedRow } from '../../../src/core/changes.ts'
import { AppError } from '../../../src/core/errors.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import type { Candidate, ComputedPlan, SourceField } from '../source.ts'
import { type ImportedObject, recordScope } from '../store.ts'
import { isSameValue } from './compare.ts'
import {
  digestOf,
  type FieldState,
  fieldIdOf,
  type KnownField,
  type KnownTable,
  type PendingValues,
  problem,
  type RunContext,
  storingField,
} from './context.ts'
import { existing, toValue } from './write-records.ts'
import { createField } from './write-schema.ts'

const RECORDS_AT_ONCE = 500
/** Differing values of a field that the report shows. */
const SHOWN_DIFFERENCES = 3

interface Computed {
  table: KnownTable
  field: SourceField
  plan: ComputedPlan
}

/**
 * Creates the computed fields of the source, or takes over what defines them there now, and compares their values with those
 * there, record by record. The fields that others read come first. One that cannot be computed here, or gives other values, becomes a plain field with the values of
 * the source, and the report says why.
 */
export async function writeComputed(context: RunContext): Promise<void> {
  for (const level of levelsOf(context)) {
    for (const [table, fields] of Map.groupBy(level, ({ table }) => table)) {
      context.signal.throwIfAborted()
      await settle(context, table, fields)
    }
  }
  await nameRecords(context)
}

/** The computed fields in levels: each reads only fields of earlier ones. Those that read each other are last. */
function levelsOf({ tables }: RunContext): Computed[][] {
  const left = new Map<string, Computed>()
  for (const table of tables.values()) {
    for (const field of table.source.fields) {
      if (field.plan.as !== 'computed' || table.deleted.has(field.id)) continue
      left.set(field.id, { table, field, plan: field.plan })
    }
  }
  const levels: Computed[][] = []
  while (left.size > 0) {
    const ready = [...left.values()].filter(({ plan }) => plan.dependsOn.every((id) => !left.has(id)))
    const level = ready.length > 0 ? ready : [...left.values()]
    for (const { field } of level) left.delete(field.id)
    levels.push(level)
  }
  return levels
}

/** A field whose values have not been compared in this run. */
interface OpenField {
  entry: Computed
  known: KnownField
  /** Its candidate before others were tried. */
  first: number
  /** Candidates to try if its values differ. */
  others: number[]
}

/** Creates the fields of a level in one table, tries their definitions, and gives up on those that differ. */
async function settle(context: RunContext, table: KnownTable, computed: Computed[]): Promise<void> {
  const open: OpenField[] = []
  for (const entry of computed) {
    const known = table.fields.get(entry.field.id) ?? (await start(context, entry))
    if (!known || known.state.settledIn === context.row.run) continue
    const others = known.state.mode === 'computed' ? await takeOver(context, entry, known) : []
    open.push({ entry, known, first: known.state.candidate ?? 0, others })
  }
  let trying = open.filter(({ known }) => known.state.mode === 'computed')
  while (trying.length > 0) {
    context.signal.throwIfAborted()
    const differences = await compare(context, table, trying)
    const again: typeof trying = []
    for (const item of trying) {
      const found = differences.get(item.known.id)
      if (!found || found.count === 0) await keep(context, item, found)
      else if (await tryNext(context, item)) again.push(item)
      else await giveUp(context, item, found)
    }
    trying = again
  }
  const plain = open.filter(({ known }) => known.state.mode === 'plain')
  if (plain.length > 0) await fillPlain(context, table, plain)
}

const placeOf = ({ table, field }: Computed) => ({ tableTitle: table.source.title, fieldTitle: field.title })

/** Creates a field by its first possible definition, or as a plain one; null if neither is possible. */
async function start(context: RunContext, entry: Computed): Promise<KnownField | null> {
  const { plan } = entry
  const tried = context.row.choices[plan.group]
    ? await createCandidate(context, entry)
    : { reason: m.base_imports_reason_left_out() }
  if ('known' in tried) return remember(context, entry, tried.known)
  const known = await createPlain(context, entry)
  if (!known) return null
  const reason = m.base_imports_reason_plain({ reason: tried.reason })
  await context.report([problem('changed', reason, placeOf(entry))])
  return known
}

async function remember(context: RunContext, { table }: Computed, known: KnownField): Promise<KnownField> {
  table.fields.set(known.source.id, known)
  await context.save(storingField(context, known))
  return known
}

/** A field by the first definition that is accepted, or why the first one is not. */
async function createCandidate(
  context: RunContext,
  { table, field, plan }: Computed,
): Promise<{ known: KnownField } | { reason: string }> {
  let reason = plan.problem ?? null
  const refuse = async (message: string) => {
    reason ??= message
  }
  for (const [candidate, { type, options }] of plan.candidates.entries()) {
    const definition = definitionIn(context, { type, options })
    if (!definition) {
      reason ??= m.base_imports_reason_needs_field()
      continue
    }
    const created =
      (await interrupted(context, table, field, type)) ??
      (await createField(context, table.source, field, table.id, definition, refuse))
    if (!created) continue
    if (created.error === null) {
      const state: FieldState = { mode: 'computed', candidate, definition: definitionOf(plan, created) }
      return { known: { source: field, id: created.id, state } }
    }
    reason ??= created.error
    await context.services.schema.deleteField(context.actor, created.id)
  }
  return { reason: reason ?? m.base_imports_reason_not_computed() }
}

const definitionOf = ({ candidates }: ComputedPlan, { type, options }: Field) => ({
  there: digestOf(candidates.map((candidate) => [candidate.type, candidate.options((id) => id)])),
  here: digestOf([type, options]),
})

/**
 * Gives a field the definition that it has got in the source since the last run, unless it was edited here.
 *
 * @returns the other candidates to try if its values differ
 */
async function takeOver(context: RunContext, entry: Computed, known: KnownField): Promise<number[]> {
  const { services, actor } = context
  const { state } = known
  const { candidates, problem: reason } = entry.plan
  const last = state.candidate ?? 0
  const later = [...candidates.keys()].filter((at) => at > last)
  const { fields } = await services.schema.table(actor, entry.table.id)
  const field = fields.find(({ id }) => id === known.id)
  if (!field) return later
  const now = definitionOf(entry.plan, field)
  const before = state.definition ?? now
  state.definition = before
  const hasChanged = before.there !== now.there || before.here === null
  if (before.here !== null && before.here !== now.here) {
    const note = m.base_imports_note_edited_definition()
    if (hasChanged) await context.report([problem('note', note, placeOf(entry))])
    return []
  }
  if (!hasChanged) return later
  state.definition = { there: now.there, here: null }
  await context.save(storingField(context, known))
  const order = [...candidates.keys()].toSorted((a, b) => Number(b === last) - Number(a === last))
  for (const candidate of order) {
    if (await define(context, entry, known, candidate)) return order.filter((at) => at !== candidate)
  }
  Object.assign(state, { candidate: last, definition: before })
  const note = m.base_imports_note_earlier_definition({
    reason: reason ?? m.base_imports_reason_not_computed(),
  })
  await context.report([problem('note', note, placeOf(entry))])
  await context.save(storingField(context, known))
  return []
}

/** A candidate with the ids of this base; null if it reads a field that was not imported. */
function definitionIn(
  context: RunContext,
  { type, options }: Candidate,
): { type: Candidate['type']; options: ReturnType<Candidate['options']> } | null {
  let isComplete = true
  const idOf = (sourceId: string) => {
    const id = fieldIdOf(context, sourceId)
    isComplete &&= id !== null
    return id ?? ''
  }
  const given = options(idOf)
  return isComplete ? { type, options: given } : null
}

/** The field that an interrupted step of the first run has created. In later runs, it may be one of a user. */
async function interrupted(
  { services, actor, tables, row }: RunContext,
  table: KnownTable,
  { title }: SourceField,
  type: string,
): Promise<Field | null> {
  if (row.run > 1) return null
  const taken = new Set(
    [...tables.values()].flatMap(({ fields }) => [...fields.values()].map(({ id }) => id)),
  )
  const { fields } = await services.schema.table(actor, table.id)
  return fields.find((field) => !taken.has(field.id) && field.title === title && field.type === type) ?? null
}

async function createPlain(context: RunContext, entry: Computed): Promise<KnownField | null> {
  const { table, field, plan } = entry
  const { type, options } = plan.plain
  const created =
    (await interrupted(context, table, field, type)) ??
    (await createField(context, table.source, field, table.id, { type, options }))
  return created && remember(context, entry, { source: field, id: created.id, state: { mode: 'plain' } })
}

interface Differences {
  count: number
  compared: number
  samples: ImportProblem[]
}

/** Compares the values of computed fields with those of the source, for all records of this run. */
async function compare(
  context: RunContext,
  table: KnownTable,
  fields: readonly { entry: Computed; known: KnownField }[],
): Promise<Map<string, Differences>> {
  const { services, actor } = context
  const found = new Map(
    fields.map(({ known }) => [known.id, { count: 0, compared: 0, samples: [] } as Differences]),
  )
  const model = await services.schema.table(actor, table.id)
  const shown = new Map(model.fields.map((field) => [field.id, field]))
  const fieldIds = fields.map(({ known }) => known.id)
  await eachPending(context, table, async (objects) => {
    const page = await services.records.list(actor, {
      tableId: table.id,
      fieldIds,
      recordIds: objects.map(({ targetId }) => Number(targetId)),
      limit: RECORDS_AT_ONCE,
      offset: 0,
    })
    const rows = new Map(page.ids.map((id, index) => [String(id), page.rows[index]!]))
    const columns = fields.map(({ known }) => page.fieldIds.indexOf(known.id))
    for (const { sourceId, targetId, computed } of objects) {
      const row = rows.get(targetId)
      if (!row) continue
      for (const [index, { entry, known }] of fields.entries()) {
        if (!(entry.field.id in computed)) continue
        const differences = found.get(known.id)!
        const [expected, ours] = [computed[entry.field.id], row[columns[index]!] ?? null]
        const isList = shown.get(known.id)?.result?.isList ?? false
        differences.compared += 1
        const isSame =
          entry.plan.notCompared !== undefined ||
          isSameValue(expected, ours, { isList, emptyIsZero: entry.plan.emptyIsZero ?? false })
        if (isSame) continue
        differences.count += 1
        if (differences.samples.length >= SHOWN_DIFFERENCES) continue
        const reason = m.base_imports_reason_differs({
          expected: shownText(expected),
          found: shownText(ours),
        })
        differences.samples.push(problem('note', reason, { ...placeOf(entry), recordId: sourceId }))
      }
    }
  })
  return found
}

const shownText = (value: unknown): string =>
  (value === null || value === undefined
    ? '–'
    : typeof value === 'string'
      ? value
      : JSON.stringify(value)
  ).slice(0, 80)

/** Calls `work` for all records with values of this run that are not in the trash. */
async function eachPending(
  { store, row, signal }: RunContext,
  table: KnownTable,
  work: (objects: (ImportedObject & { computed: Record<string, unknown> })[]) => Promise<void>,
): Promise<void> {
  let after: string | null = null
  for (;;) {
    signal.throwIfAborted()
    const page: ImportedObject[] = await store.page(row.id, recordScope(table.source.id), {
      after,
      limit: RECORDS_AT_ONCE,
      isPending: true,
    })
    const last = page.at(-1)
    if (!last) return
    await work(
      page.map((object) => ({
        ...object,
        computed: (JSON.parse(object.pending ?? '{}') as PendingValues).computed ?? {},
      })),
    )
    after = last.sourceId
  }
}

/** A field whose values are those of the source. */
async function keep(
  context: RunContext,
  { entry, known }: { entry: Computed; known: KnownField },
  found: Differences | undefined,
): Promise<void> {
  known.state.settledIn = context.row.run
  const { notCompared } = entry.plan
  if (notCompared === undefined) context.state.counts.verified += found?.compared ?? 0
  else await context.report([problem('note', notCompared, placeOf(entry))])
  await context.save(storingField(context, known))
}

/** Gives the field its next definition; false if there is none that is valid. */
async function tryNext(context: RunContext, { entry, known, others }: OpenField): Promise<boolean> {
  for (let next = others.shift(); next !== undefined; next = others.shift())
    if (await define(context, entry, known, next)) return true
  return false
}

/** Gives the field the definition of a candidate; false if that is not valid, or the field was converted here. */
async function define(
  context: RunContext,
  { plan }: Computed,
  known: KnownField,
  candidate: number,
): Promise<boolean> {
  const definition = definitionIn(context, plan.candidates[candidate]!)
  if (!definition) return false
  known.state.candidate = candidate
  try {
    const updated = await context.services.schema.updateField(context.actor, known.id, definition)
    if (updated.error !== null) return false
    known.state.definition = definitionOf(plan, updated)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.status >= 500 && error.code !== 'NOT_IMPLEMENTED') throw error
    return false
  }
  await context.save(storingField(context, known))
  return true
}

/**
 * A field whose values differ. It stays if it reads the clock, and if it was right in an earlier run: its records, or those
 * that it reads, may have been edited here since, and a plain field would lack the values of all records that this run has
 * not read. Any other field is replaced by a plain one.
 */
async function giveUp(
  context: RunContext,
  item: OpenField,
  { count, compared, samples }: Differences,
): Promise<void> {
  const { services, actor, row, store } = context
  const { entry, known, first } = item
  const { table, field, plan } = entry
  const numbers = { count, total: compared }
  if (plan.readsClock || known.state.settledIn !== undefined) {
    if (known.state.candidate !== first) await define(context, entry, known, first)
    known.state.settledIn = row.run
    const reason = plan.readsClock
      ? m.base_imports_note_clock(numbers)
      : m.base_imports_reason_values_differ(numbers)
    await context.report([problem('note', reason, placeOf(entry)), ...samples])
    await context.save(storingField(context, known))
    return
  }
  const reason = m.base_imports_reason_values_differ(numbers)
  await context.report([
    problem('changed', m.base_imports_reason_plain({ reason }), placeOf(entry)),
    ...samples,
  ])
  // Nothing reads the field yet: what depends on it belongs to a later level. Lookups and rollups cannot be converted.
  await store.forget(row.id, 'field', [field.id])
  table.fields.delete(field.id)
  await services.schema.deleteField(actor, known.id)
  const plain = await createPlain(context, entry)
  if (plain) item.known = plain
}

/** Writes the values of the source into plain fields. */
async function fillPlain(
  context: RunContext,
  table: KnownTable,
  fields: readonly { entry: Computed; known: KnownField }[],
): Promise<void> {
  const { services, actor, row } = context
  const model = await services.schema.table(actor, table.id)
  const byId = new Map(model.fields.map((field) => [field.id, field]))
  await eachPending(context, table, async (objects) => {
    const live = await existing(
      context,
      table,
      objects.map(({ targetId }) => Number(targetId)),
    )
    const problems: ImportProblem[] = []
    const rows = objects
      .filter(({ targetId }) => live.has(targetId))
      .map(({ sourceId, targetId, computed }): UpdatedRow => {
        const values: UpdatedRow['values'] = {}
        for (const { entry, known } of fields) {
          const field = byId.get(known.id)
          if (!field || !(entry.field.id in computed) || fieldType(field.type).computed) continue
          const cell = entry.plan.plain.cell(computed[entry.field.id])
          values[known.id] = toValue(context, field, cell, new Map(), (reason, value) =>
            problems.push(problem('skipped', reason, { ...placeOf(entry), recordId: sourceId, value })),
          )
        }
        return { id: Number(targetId), values }
      })
    await context.report(problems)
    if (rows.length === 0) return
    await services.records.apply(actor, {
      baseId: row.baseId,
      operations: [{ kind: 'update', tableId: table.id, rows }],
    })
  })
  for (const { known } of fields) {
    known.state.settledIn = row.run
    await context.save(storingField(context, known))
  }
}

/** Names records by the same field as the source, where that one is computed. */
async function nameRecords(context: RunContext): Promise<void> {
  const { services, actor, row } = context
  if (row.run > 1) return
  for (const table of context.tables.values()) {
    const primary = table.fields.get(table.source.primaryFieldId ?? '')
    if (!primary) continue
    const { fields } = await services.schema.table(actor, table.id)
    if (fields.find(({ id }) => id === primary.id)?.isDisplay) continue
    try {
      await services.schema.setDisplayField(actor, primary.id)
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error
      const about = { tableTitle: table.source.title, fieldTitle: primary.source.title }
      await context.report([problem('changed', error.message, about)])
    }
  }
}
