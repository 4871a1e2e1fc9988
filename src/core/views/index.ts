import type { View, ViewKind } from '../model.ts'
import { type CalendarOptions, calendar } from './calendar.ts'
import { type FormOptions, form } from './form.ts'
import { type GalleryOptions, gallery } from './gallery.ts'
import { type GridOptions, grid } from './grid.ts'
import { type KanbanOptions, kanban } from './kanban.ts'
import { type MapOptions, map } from './map.ts'
import type { ViewKindDefinition } from './view-kind.ts'

export * from './calendar.ts'
export * from './coloring.ts'
export * from './cover.ts'
export * from './form.ts'
export * from './gallery.ts'
export * from './grid.ts'
export * from './grouping.ts'
export * from './kanban.ts'
export * from './map.ts'
export * from './rename-choices.ts'
export type { ViewKindDefinition } from './view-kind.ts'

/** What each kind of view keeps in `View.options`. */
export interface OptionsByKind {
  grid: GridOptions
  form: FormOptions
  gallery: GalleryOptions
  kanban: KanbanOptions
  calendar: CalendarOptions
  map: MapOptions
}

/** Every kind of view, in the order in which they are offered. */
export const VIEW_KINDS: { [K in ViewKind]: ViewKindDefinition<OptionsByKind[K]> } = {
  grid,
  form,
  gallery,
  kanban,
  calendar,
  map,
}

/** A kind's definition where it does not matter which one it is: its options are what itself has made. */
export const viewKind = (kind: ViewKind): ViewKindDefinition<object> =>
  VIEW_KINDS[kind] as ViewKindDefinition<object>

/**
 * The options of a view of that kind, with every key.
 *
 * @throws Error where the view is of another kind: the caller has not looked
 */
export function optionsOf<K extends ViewKind>(
  view: Pick<View, 'kind' | 'options'>,
  kind: K,
): OptionsByKind[K] {
  if (view.kind !== kind) throw new Error(`A ${view.kind} view is not a ${kind}`)
  return VIEW_KINDS[kind].options.parse(view.options)
}
