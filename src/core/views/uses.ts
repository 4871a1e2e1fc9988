import { fieldsOf } from '../filters/filter.ts'
import type { View } from '../model.ts'
import { coloringFields } from './coloring.ts'
import { viewKind } from './index.ts'

/** Ways in which a view depends on a field besides showing it. */
const VIEW_USES = ['filter', 'sort', 'group', 'coloring', 'layout', 'condition'] as const
export type ViewUse = (typeof VIEW_USES)[number]

/**
 * Ways in which a view depends on any of the fields: `layout` is the options of its kind (a kanban's stacks, a cover, a
 * calendar's dates), `condition` the display condition of a form's field.
 */
export function usesOf(view: View, fieldIds: ReadonlySet<string>): ViewUse[] {
  const { filter, sorts, groups, coloring, options, kind, fields } = view
  const named: Record<ViewUse, string[]> = {
    filter: fieldsOf(filter),
    sort: sorts.map(({ fieldId }) => fieldId),
    group: groups.map(({ fieldId }) => fieldId),
    coloring: coloring ? coloringFields(coloring) : [],
    layout: viewKind(kind).fieldIds(options),
    condition: fields.flatMap(({ form }) => fieldsOf(form?.showIf ?? null)),
  }
  return VIEW_USES.filter((use) => named[use].some((id) => fieldIds.has(id)))
}
