import type { ChoiceTitles } from '../../../src/core/fields/choice-titles.ts'
import type { ViewField } from '../../../src/core/model.ts'
import { viewKind } from '../../../src/core/views/index.ts'
import type { Kernel } from '../../../src/kernel.ts'
import {
  definitionsAt,
  fieldChangesSince,
  presentChoiceTitles,
  restoreKeys,
  type TableModel,
} from '../../schema/index.ts'
import { type ArrangeDetail, restoreViewFields } from '../fields/index.ts'
import { refuseLocked, type ViewRow, type ViewState, type ViewsContext } from '../model/index.ts'
import {
  type ChoiceSettings,
  changedKeys,
  formWithRenamedChoices,
  restoreVisibility,
  rightsFor,
  stateOf,
  type VisibilityChange,
  withRenamedChoices,
  writeView,
} from '../settings/index.ts'
import { removeView, restoreView, type StoredView } from './create-and-delete.ts'

interface Detail extends Partial<ArrangeDetail> {
  viewId: string
  stored?: StoredView
}

/** Registers undo and redo for the log entries of this module. Entries on deleted views have no effect. */
export function registerViewsUndo(
  context: ViewsContext,
  { undoers, sources }: Pick<Kernel, 'undoers' | 'sources'>,
): void {
  const { store, schema, access } = context

  /** The options of the table's fields that have other titles now than at an entry. */
  async function titlesSince({ table, fields }: TableModel, entryId: number): Promise<PresentTitles> {
    const engine = await sources.engine(table.baseId)
    const then = definitionsAt(await fieldChangesSince(engine, table.id, entryId))(entryId)
    return fields.flatMap((field) => {
      const titles = presentChoiceTitles(then.get(field.id) ?? [], field)
      return titles ? [{ fieldId: field.id, titles }] : []
    })
  }

  undoers.set('view', async (actor, baseId, entry, direction, write) => {
    if (entry.kind === 'view.visibility') {
      const { changes } = entry.detail as { changes: VisibilityChange[] }
      const reversed = changes.map(({ viewId, before, after }) => ({ viewId, before: after, after: before }))
      await restoreVisibility(context, actor, baseId, direction === 'undo' ? reversed : changes, write)
      return
    }
    const detail = entry.detail as Detail
    const isUndo = direction === 'undo'
    if (entry.kind === 'view.create' || entry.kind === 'view.delete') {
      await access.authorize(actor, 'view.create', baseId)
      const appears = (entry.kind === 'view.delete') === isUndo
      if (appears && detail.stored) {
        const model = await schema.load(detail.stored.row.tableId)
        const titles = await titlesSince(model, entry.id)
        await restoreView(context, actor, withPresentTitles(detail.stored, titles), write)
      }
      if (!appears && (await store.findRow(detail.viewId))) {
        await removeView(context, actor, detail.viewId, write)
      }
      return
    }
    await access.authorize(actor, 'view.arrange', baseId)
    const row = await store.findRow(detail.viewId)
    if (!row) return
    if (entry.kind === 'view.update') {
      const titles = await titlesSince(await store.modelOf(detail.viewId), entry.id)
      const logged = entry.detail as { before: ViewState; after: ViewState }
      const present = (state: ViewState): ViewState => {
        const { kind: _, ...settings } = withPresentSettings({ ...state, kind: row.kind }, titles)
        return settings
      }
      const [before, after] = [present(logged.before), present(logged.after)]
      const [from, to] = isUndo ? [after, before] : [before, after]
      for (const right of rightsFor(row, changedKeys(from, to))) await access.authorize(actor, right, baseId)
      await writeView(context, actor, detail.viewId, (row) => restoredState(row, from, to), write)
      return
    }
    refuseLocked(actor, row)
    const model = await store.modelOf(detail.viewId)
    const { table } = model
    const titles = await titlesSince(model, entry.id)
    const { before = [], after = [] } = detail
    const present = (fields: ViewField[]) => fields.map((field) => withPresentForm(field, titles))
    const [from, to] = isUndo ? [present(after), present(before)] : [present(before), present(after)]
    await schema.apply(
      actor,
      table.baseId,
      async () => ({
        statements: restoreViewFields(
          context,
          row,
          from,
          restoredFields(await store.fieldRowsOf(row.id), from, to),
        ),
        entry: {
          kind: 'view.arrange',
          tableId: table.id,
          detail: { viewId: detail.viewId, before: from, after: to },
        },
        tableIds: [table.id],
        result: undefined,
      }),
      write,
    )
  })
}

/** What the options of fields are called now, by their former titles. */
type PresentTitles = readonly { fieldId: string; titles: ChoiceTitles }[]

/** Logged settings with the present titles of options. */
function withPresentSettings<T extends ChoiceSettings & Pick<ViewRow, 'kind'>>(
  settings: T,
  present: PresentTitles,
): T {
  let now = settings
  for (const { fieldId, titles } of present) now = { ...now, ...withRenamedChoices(now, fieldId, titles) }
  return now
}

/** What a view keeps of a field, with the present titles of options in the settings of a form. */
function withPresentForm<T extends Pick<ViewField, 'form' | 'fieldId'>>(line: T, present: PresentTitles): T {
  let form: ViewField['form'] = line.form
  for (const { fieldId, titles } of present)
    form = formWithRenamedChoices({ form, fieldId: line.fieldId }, fieldId, titles)
  return { ...line, form }
}

/** A deleted view with the present titles of options. */
const withPresentTitles = ({ row, lines }: StoredView, present: PresentTitles): StoredView => ({
  row: withPresentSettings(row, present),
  lines: lines.map((line) => withPresentForm(line, present)),
})

/** The settings of a view; what others have set since for other settings, or for other options of its kind, stays. */
export function restoredState(row: ViewRow, from: ViewState, to: ViewState): ViewState {
  const current = stateOf(row)
  const restored = restoreKeys(current, from, to)
  if (!current.options || !from.options || !to.options) return restored
  const options = restoreKeys(current.options, from.options, to.options)
  const kind = viewKind(row.kind)
  if (!kind.keepParts) return { ...restored, options }
  // The log may be of a version that lacked some options.
  const complete = (each: object) => kind.options.parse(each)
  const change = {
    current: complete(current.options),
    from: complete(from.options),
    to: complete(to.options),
  }
  return { ...restored, options: kind.keepParts(complete(options), change) }
}

/** The fields of `to`; what others have set since for other settings of a field, or of its question, stays. */
export function restoredFields(current: ViewField[], from: ViewField[], to: ViewField[]): ViewField[] {
  const [now, before] = [byFieldId(current), byFieldId(from)]
  return to.map((field) => {
    const [kept, changed] = [now.get(field.fieldId), before.get(field.fieldId)]
    if (!kept || !changed) return field
    const restored = restoreKeys(kept, changed, field)
    if (!kept.form || !changed.form || !field.form) return restored
    return { ...restored, form: restoreKeys(kept.form, changed.form, field.form) }
  })
}

const byFieldId = (fields: ViewField[]) => new Map(fields.map((field) => [field.fieldId, field]))
