import { AppError } from '../../../src/core/errors.ts'
import { type Filter, isGroup } from '../../../src/core/filters/index.ts'
import type { Sort, View } from '../../../src/core/model.ts'
import { canGroup, collectsAnswers, type RowColoring, viewKind } from '../../../src/core/views/index.ts'
import { m } from '../../../src/messages.gen.ts'
import { uniqueTitle } from '../../schema/index.ts'
import type { SourceView } from '../source.ts'
import type { ImportedObject } from '../store.ts'
import { type KnownTable, problem, type RunContext } from './context.ts'
import { followTitles, viewTitle } from './titles.ts'

/**
 * Creates the views that the source has and the base has not yet, and renames those that were renamed there. The first grid of a
 * table becomes its default view.
 */
export async function writeViews(context: RunContext): Promise<void> {
  const { store, row, state, services, actor } = context
  const objects = await store.objects(row.id, 'view')
  for (const table of context.tables.values()) {
    const { views } = await services.schema.table(actor, table.id)
    const taken = new Set([...objects.values()].map(({ targetId }) => targetId))
    const standard = views.find(({ isDefault }) => isDefault)
    // In the order of the fields there, whatever the steps in which they were created.
    if (standard && row.run === 1) await arrange(context, table, standard, null)
    if (!row.choices.views) continue
    await followViewTitles(context, table, objects, views)
    for (const source of table.source.views) {
      context.signal.throwIfAborted()
      if (objects.has(source.id)) continue
      const isStandard =
        standard && !taken.has(standard.id) && viewKind(source.kind).isTabular && row.run === 1
      const view = isStandard ? standard : await createView(context, table, source, views, taken)
      if (!view) continue
      taken.add(view.id)
      await configure(context, table, view, source)
      state.counts.views += 1
      await context.save(storingView(context, source, view.id))
    }
  }
}

/** The statement that stores the counterpart of a view, with its title in the source. */
const storingView = ({ store, row }: RunContext, { id, title }: SourceView, targetId: string) =>
  store.storing(row.id, 'view', [{ sourceId: id, targetId, digest: title, pending: null, run: row.run }])

/** Gives the views of a table their new titles in the source, and remembers them for the next run. */
async function followViewTitles(
  context: RunContext,
  table: KnownTable,
  objects: ReadonlyMap<string, ImportedObject>,
  views: readonly View[],
): Promise<void> {
  const { services, actor } = context
  const renamed = table.source.views.flatMap((source) => {
    const object = objects.get(source.id)
    return object && object.digest !== source.title ? { source, object } : []
  })
  if (renamed.length === 0) return
  const known = renamed.flatMap(({ source, object }) => {
    const view = views.find(({ id }) => id === object.targetId)
    if (!view || object.digest === null) return []
    const { id, title: here } = view
    return {
      here,
      before: viewTitle(object.digest),
      now: viewTitle(source.title),
      about: about(table, source),
      async rename(wanted: string) {
        const schema = await services.schema.table(actor, table.id)
        const others = schema.views.filter((other) => other.id !== id)
        const title = uniqueTitle(wanted, others)
        await services.views.update(actor, id, { title })
        return title
      },
    }
  })
  await followTitles(context, known)
  await context.save(renamed.flatMap(({ source, object }) => storingView(context, source, object.targetId)))
}

const about = (table: KnownTable, source: SourceView) => ({
  tableTitle: table.source.title,
  viewTitle: source.title,
})

async function createView(
  context: RunContext,
  table: KnownTable,
  source: SourceView,
  views: readonly View[],
  taken: ReadonlySet<string>,
): Promise<View | null> {
  const { services, actor, row } = context
  const title = viewTitle(source.title)
  // Created by a step that was interrupted.
  const interrupted = views.find(
    (view) => view.title === title && view.kind === source.kind && !taken.has(view.id) && !view.isDefault,
  )
  if (interrupted && row.run === 1) return interrupted
  try {
    return await services.views.create(actor, table.id, { title, kind: source.kind })
  } catch (error) {
    await reportFailure(context, table, source, error)
    return null
  }
}

/** A setting that this base does not accept is reported; the view stays. */
async function reportFailure(
  { report }: RunContext,
  table: KnownTable,
  source: SourceView,
  error: unknown,
): Promise<void> {
  if (!(error instanceof AppError) || error.status >= 500) throw error
  await report([problem('changed', error.message, about(table, source))])
}

async function configure(
  context: RunContext,
  table: KnownTable,
  view: View,
  source: SourceView,
): Promise<void> {
  const { services, actor } = context
  const missing = new Set<string>()
  const idOf = (fieldId: string): string | null => {
    const id = table.fields.get(fieldId)?.id ?? null
    if (id === null) missing.add(fieldId)
    return id
  }
  const sorts = (list: Sort[]) =>
    list.flatMap(({ fieldId, direction }) => {
      const id = idOf(fieldId)
      return id === null ? [] : [{ fieldId: id, direction }]
    })
  const showsRecords = !collectsAnswers(view)
  const settings: [unknown, () => Promise<unknown>][] = [
    [view.isDefault, () => services.views.update(actor, view.id, { title: viewTitle(source.title) })],
    [source.rowHeight, () => services.views.update(actor, view.id, { rowHeight: source.rowHeight! })],
    [
      showsRecords && source.filter,
      () => services.views.update(actor, view.id, { filter: withIds(source.filter ?? null, idOf) }),
    ],
    [
      showsRecords && source.sorts?.length,
      () => services.views.update(actor, view.id, { sorts: sorts(source.sorts ?? []) }),
    ],
    [
      canGroup(view) && source.groups?.length,
      () => services.views.update(actor, view.id, { groups: sorts(source.groups ?? []).slice(0, 3) }),
    ],
    [
      source.coloring,
      () =>
        services.views.update(actor, view.id, { coloring: coloringWithIds(source.coloring ?? null, idOf) }),
    ],
    [
      source.options,
      () =>
        services.views.update(actor, view.id, {
          options: { ...view.options, ...optionsWithIds(source.options ?? {}, idOf) },
        }),
    ],
    [true, () => arrange(context, table, view, source)],
  ]
  for (const [isGiven, write] of settings) {
    if (!isGiven) continue
    try {
      await write()
    } catch (error) {
      await reportFailure(context, table, source, error)
    }
  }
  const notes = [...source.notes, ...(missing.size > 0 ? [m.base_imports_note_view_fields()] : [])]
  await context.report(notes.map((note) => problem('changed', note, about(table, source))))
}

/** Shows the fields in the order of the source, without those that it hides. */
async function arrange(
  context: RunContext,
  table: KnownTable,
  view: View,
  source: SourceView | null,
): Promise<void> {
  const { services, actor } = context
  const all = table.source.fields.map(({ id }) => id)
  const isHelper = new Set(table.source.fields.flatMap((field) => (field.isHelper ? [field.id] : [])))
  const visible = source?.visible ?? all.filter((id) => !isHelper.has(id))
  const order = [...visible, ...all.filter((id) => !visible.includes(id))]
  const { fields } = await services.schema.table(actor, table.id)
  const display = fields.find(({ isDisplay }) => isDisplay)?.id
  const shown = new Set(visible)
  const changes = order.flatMap((sourceId, index) => {
    const id = table.fields.get(sourceId)?.id
    if (id === undefined) return []
    const width = source?.widths?.[sourceId]
    return [
      {
        fieldId: id,
        order: index + 1,
        show: shown.has(sourceId) || id === display,
        ...(width !== undefined && { width: Math.max(50, Math.min(2000, Math.round(width))) }),
      },
    ]
  })
  if (changes.length > 0) await services.views.arrange(actor, view.id, changes)
}

/** A filter with the ids of this base; conditions on fields that were not imported are dropped. */
function withIds(filter: Filter | null, idOf: (fieldId: string) => string | null): Filter | null {
  if (filter === null) return null
  if (!isGroup(filter)) {
    const fieldId = idOf(filter.fieldId)
    return fieldId === null ? null : { ...filter, fieldId }
  }
  const children = filter.children.map((child) => withIds(child, idOf)).filter((child) => child !== null)
  return children.length === 0 ? null : { ...filter, children }
}

function coloringWithIds(
  coloring: RowColoring | null,
  idOf: (fieldId: string) => string | null,
): RowColoring | null {
  if (coloring === null) return null
  if (coloring.mode === 'select') {
    const fieldId = idOf(coloring.fieldId)
    return fieldId === null ? null : { ...coloring, fieldId }
  }
  const rules = coloring.rules.flatMap((rule) => {
    const filter = withIds(rule.filter, idOf)
    return filter === null
      ? []
      : [{ ...rule, filter: isGroup(filter) ? filter : { join: 'and' as const, children: [filter] } }]
  })
  return rules.length === 0 ? null : { ...coloring, rules }
}

/** Options of a view kind with the ids of this base: every key that ends with `FieldId` names a field. */
function optionsWithIds(options: unknown, idOf: (fieldId: string) => string | null): Record<string, unknown> {
  const convert = (value: unknown, key: string): unknown => {
    if (Array.isArray(value)) return value.map((one) => convert(one, key))
    if (typeof value === 'object' && value !== null) return optionsWithIds(value, idOf)
    return key.endsWith('FieldId') && typeof value === 'string' ? idOf(value) : value
  }
  return Object.fromEntries(
    Object.entries(options as object).map(([key, value]) => [key, convert(value, key)]),
  )
}
