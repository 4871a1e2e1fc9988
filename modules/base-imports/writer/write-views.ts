import { canonicalJson } from '../../../src/core/canonical-json.ts'
import { AppError } from '../../../src/core/errors.ts'
import { type Filter, isGroup } from '../../../src/core/filters/index.ts'
import type { Sort, View, ViewField } from '../../../src/core/model.ts'
import { canGroup, collectsAnswers, type RowColoring, viewKind } from '../../../src/core/views/index.ts'
import { m } from '../../../src/messages.gen.ts'
import { uniqueTitle } from '../../schema/index.ts'
import type { SourceView } from '../source.ts'
import type { ImportedObject } from '../store.ts'
import { digestOf, type KnownTable, problem, type RunContext } from './context.ts'
import { followTitles, viewTitle } from './titles.ts'

/** How a view of the source was written here. */
interface ViewState {
  /** Its title in the source, to notice a new one. */
  title: string
  /** Its settings by their names; null if an earlier version has written them. */
  settings: WrittenSettings | null
}

type WrittenSettings = Record<string, WrittenSetting>

interface WrittenSetting {
  /** Digest of the setting of the source. */
  there: string
  /** What became of it here, as canonical JSON; null while it is being written. */
  here: string | null
}

/** A view of the source with its counterpart here. */
interface Pair {
  table: KnownTable
  source: SourceView
  view: View
  /** The display field of the table, which every view shows. */
  display: string | undefined
}

/** A setting of a view that follows the source. */
interface Setting {
  name: string
  /** That of the source, with the ids here. */
  there: unknown
  /** What the view gets. */
  wanted: unknown
  /** What a view has. */
  read(view: View): unknown
  /** True if a view still has what a run has left. */
  isStill(view: View, here: string): boolean
  write(): Promise<unknown>
}

/**
 * Creates the views that the source has and the base has not yet; others get the titles and settings that have changed there.
 * The first grid of a table becomes its default view.
 */
export async function writeViews(context: RunContext): Promise<void> {
  const { store, row, state, services, actor } = context
  const objects = await store.objects(row.id, 'view')
  for (const table of context.tables.values()) {
    const schema = () => services.schema.table(actor, table.id)
    const taken = new Set([...objects.values()].map(({ targetId }) => targetId))
    const before = await schema()
    const display = before.fields.find(({ isDisplay }) => isDisplay)?.id
    const unarranged = before.views.find(({ id, isDefault }) => isDefault && !taken.has(id))
    if (unarranged && row.run === 1) {
      // In the order of the fields there, whatever the steps in which they were created.
      await arrangement(context, { table, view: unarranged, display, source: null }).write()
    }
    const { views } = row.run === 1 ? await schema() : before
    const standard = views.find(({ isDefault }) => isDefault)
    if (!row.choices.views) continue
    await followViewTitles(context, table, objects, views)
    for (const source of table.source.views) {
      context.signal.throwIfAborted()
      const known = objects.get(source.id)
      if (known) {
        const view = views.find(({ id }) => id === known.targetId)
        if (view) await followSettings(context, { table, source, view, display }, stateOf(known))
        continue
      }
      const isStandard =
        standard && !taken.has(standard.id) && viewKind(source.kind).isTabular && row.run === 1
      const view = isStandard ? standard : await createView(context, table, source, views, taken)
      if (!view) continue
      taken.add(view.id)
      const settings = await configure(context, { table, source, view, display })
      state.counts.views += 1
      await context.save(storingView(context, source, view.id, settings))
    }
  }
}

/** An earlier version has stored the title alone. */
const stateOf = ({ digest }: ImportedObject): ViewState =>
  digest?.startsWith('{') ? (JSON.parse(digest) as ViewState) : { title: digest ?? '', settings: null }

/** The statement that stores the counterpart of a view, with its title in the source. */
const storingView = (
  { store, row }: RunContext,
  { id, title }: SourceView,
  targetId: string,
  settings: ViewState['settings'],
) => {
  const state: ViewState = { title, settings }
  return store.storing(row.id, 'view', [
    { sourceId: id, targetId, digest: JSON.stringify(state), pending: null, run: row.run },
  ])
}

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
    const state = object && stateOf(object)
    return object && state && state.title !== source.title ? [{ source, object, state }] : []
  })
  if (renamed.length === 0) return
  const known = renamed.flatMap(({ source, object, state }) => {
    const view = views.find(({ id }) => id === object.targetId)
    if (!view) return []
    const { id, title: here } = view
    return {
      here,
      before: viewTitle(state.title),
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
  await context.save(
    renamed.flatMap(({ source, object, state }) =>
      storingView(context, source, object.targetId, state.settings),
    ),
  )
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

/** Gives a new view the settings of the source. */
async function configure(context: RunContext, pair: Pair): Promise<WrittenSettings> {
  const { services, actor } = context
  const { view, source } = pair
  const { settings, notes } = settingsOf(context, pair)
  if (view.isDefault) {
    const title = viewTitle(source.title)
    await attempt(context, pair, () => services.views.update(actor, view.id, { title }))
  }
  for (const setting of settings) await write(context, pair, setting)
  await reportChanges(context, pair, notes)
  return written(context, pair, settings)
}

/** Gives a view the settings that have changed in the source since the last run, unless they were changed here. */
async function followSettings(
  context: RunContext,
  pair: Pair,
  { settings: before }: ViewState,
): Promise<void> {
  const { source, view } = pair
  const { settings, notes } = settingsOf(context, pair)
  if (before === null) {
    await context.save(storingView(context, source, view.id, await written(context, pair, settings)))
    return
  }
  const changed = settings.filter(({ name, there }) => {
    const last = before[name]
    return last?.there !== digestOf(there) || last.here === null
  })
  if (changed.length === 0) return
  const ours = changed.filter((setting) => isUntouched(setting, view, before[setting.name]))
  const theirs = changed.filter((setting) => !ours.includes(setting))
  const now = { ...before }
  const save = () => context.save(storingView(context, source, view.id, now))
  for (const { name, there } of ours) now[name] = { there: digestOf(there), here: null }
  for (const { name, there } of theirs)
    now[name] = { there: digestOf(there), here: before[name]?.here ?? null }
  await save()
  for (const setting of ours) await write(context, pair, setting)
  await reportChanges(
    context,
    pair,
    theirs.length > 0 ? [...notes, m.base_imports_note_edited_view()] : notes,
  )
  Object.assign(now, await written(context, pair, ours))
  await save()
}

/** True if a setting is as a run has left it, or as it should be. */
const isUntouched = (setting: Setting, view: View, last: WrittenSetting | undefined): boolean =>
  last === undefined ||
  last.here === null ||
  setting.isStill(view, last.here) ||
  isSame(setting.read(view), setting.wanted)

const isSame = (one: unknown, other: unknown): boolean => canonicalJson(one) === canonicalJson(other)

async function write(context: RunContext, pair: Pair, setting: Setting): Promise<void> {
  if (isSame(setting.wanted, setting.read(pair.view))) return
  await attempt(context, pair, () => setting.write())
}

async function attempt(context: RunContext, pair: Pair, change: () => Promise<unknown>): Promise<void> {
  try {
    await change()
  } catch (error) {
    await reportFailure(context, pair.table, pair.source, error)
  }
}

const reportChanges = (context: RunContext, { table, source }: Pair, reasons: readonly string[]) =>
  context.report(reasons.map((reason) => problem('changed', reason, about(table, source))))

/** What has become of settings. */
async function written(
  { services, actor }: RunContext,
  { table, view: { id } }: Pair,
  settings: readonly Setting[],
): Promise<WrittenSettings> {
  const { views } = await services.schema.table(actor, table.id)
  const view = views.find((one) => one.id === id)
  if (!view) return {}
  return Object.fromEntries(
    settings.map(({ name, there, read }) => [
      name,
      { there: digestOf(there), here: canonicalJson(read(view)) },
    ]),
  )
}

/** The settings that a view of this kind has, and remarks for the report. */
function settingsOf(context: RunContext, pair: Pair): { settings: Setting[]; notes: string[] } {
  const { services, actor } = context
  const { table, source, view } = pair
  const missing = new Set<string>()
  const idOf = (fieldId: string): string | null => {
    const id = table.fields.get(fieldId)?.id ?? null
    if (id === null) missing.add(fieldId)
    return id
  }
  const sortsOf = (list: Sort[] = []) =>
    list.flatMap(({ fieldId, direction }) => {
      const id = idOf(fieldId)
      return id === null ? [] : [{ fieldId: id, direction }]
    })
  const own = <Name extends 'rowHeight' | 'filter' | 'sorts' | 'groups' | 'coloring' | 'options'>(
    name: Name,
    wanted: View[Name],
    { there = wanted as unknown, read = (from: View): unknown => from[name] } = {},
  ): Setting => ({
    name,
    there,
    wanted,
    read,
    isStill: (from, here) => canonicalJson(read(from)) === here,
    write: () => services.views.update(actor, view.id, { [name]: wanted }),
  })
  const ordering = (name: 'sorts' | 'groups', wanted: Sort[]): Setting =>
    own(name, wanted, {
      read: (from) => from[name].map(({ fieldId, direction }) => ({ fieldId, direction })),
    })
  const settings: Setting[] = []
  if (source.rowHeight) settings.push(own('rowHeight', source.rowHeight))
  if (!collectsAnswers(view)) {
    settings.push(
      own('filter', withIds(source.filter ?? null, idOf)),
      ordering('sorts', sortsOf(source.sorts)),
    )
  }
  if (canGroup(view)) settings.push(ordering('groups', sortsOf(source.groups).slice(0, 3)))
  const options = optionsWithIds(source.options ?? {}, idOf)
  settings.push(
    own('coloring', coloringWithIds(source.coloring ?? null, idOf)),
    own('options', { ...view.options, ...options }, { there: options }),
    arrangement(context, pair),
  )
  const notes = missing.size > 0 ? [...source.notes, m.base_imports_note_view_fields()] : source.notes
  return { settings, notes }
}

/** A column of a view as the source may set it. */
type Place = Pick<ViewField, 'fieldId' | 'show'> & Partial<Pick<ViewField, 'width'>>

/** The order of the fields as in the source, without those that it hides. */
function arrangement(
  { services, actor }: RunContext,
  { table, view, display, source }: Omit<Pair, 'source'> & { source: SourceView | null },
): Setting {
  const all = table.source.fields.map(({ id }) => id)
  const isHelper = new Set(table.source.fields.flatMap((field) => (field.isHelper ? [field.id] : [])))
  const visible = source?.visible ?? all.filter((id) => !isHelper.has(id))
  const shown = new Set(visible)
  const there = [...visible, ...all.filter((id) => !shown.has(id))].flatMap((sourceId): Place[] => {
    const fieldId = table.fields.get(sourceId)?.id
    if (fieldId === undefined) return []
    const namesId = table.names.get(sourceId)
    const width = source?.widths?.[sourceId]
    const show = shown.has(sourceId) || fieldId === display
    return [
      { fieldId, show, ...(width && { width: Math.max(50, Math.min(2000, Math.round(width))) }) },
      ...(namesId ? [{ fieldId: namesId, show: shown.has(sourceId) }] : []),
    ]
  })
  const imported = new Set(there.map(({ fieldId }) => fieldId))
  const read = ({ fields }: View): Place[] =>
    fields
      .toSorted((a, b) => a.order - b.order)
      .flatMap(({ fieldId, show, width }) => (imported.has(fieldId) ? [{ fieldId, show, width }] : []))
  const widths = new Map(view.fields.map(({ fieldId, width }) => [fieldId, width]))
  return {
    name: 'fields',
    there,
    wanted: there.map((place) => ({ ...place, width: place.width ?? widths.get(place.fieldId) })),
    read,
    isStill(from, here) {
      // Fields have been added and deleted since.
      const last = JSON.parse(here) as Place[]
      const now = read(from)
      const of = (list: Place[], others: Place[]) => {
        const ids = new Set(others.map(({ fieldId }) => fieldId))
        return list.filter(({ fieldId }) => ids.has(fieldId))
      }
      return isSame(of(now, last), of(last, now))
    },
    write: () =>
      services.views.arrange(
        actor,
        view.id,
        there.map((place, index) => ({ ...place, order: index + 1 })),
      ),
  }
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
