import type { View, ViewKind } from '../model.ts'
import { type CalendarOptions, calendar } from './calendar.ts'
import { type FormOptions, form } from './form.ts'
import { type GalleryOptions, gallery } from './gallery.ts'
import { type GridOptions, grid } from './grid.ts'
import { type KanbanOptions, kanban } from './kanban.ts'
import { type MapOptions, map } from './map.ts'
import type { Stacks, ViewKindDefinition } from './view-kind.ts'

export * from './calendar.ts'
export * from './coloring.ts'
export * from './form.ts'
export * from './gallery.ts'
export * from './grid.ts'
export * from './kanban.ts'
export * from './map.ts'
export * from './rename-choices.ts'
export type { Setup, Stacks, ViewKindDefinition } from './view-kind.ts'
export * from './view-kind.ts'

/** The shape of `View.options` per kind. */
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

type Kinded = Pick<View, 'kind'>

/** True for views that people fill in: they show no records. */
export const collectsAnswers = ({ kind }: Kinded): boolean => viewKind(kind).collectsAnswers === true

/** True for views whose columns are fields: fields that are added later appear in them. */
export const isTabular = ({ kind }: Kinded): boolean => viewKind(kind).isTabular === true

/** True for views whose records can be grouped. */
export const canGroup = ({ kind }: Kinded): boolean => viewKind(kind).canGroup === true

/** The stacks of a view; null for kinds without stacks. Takes options as they are stored. */
export function stacksOf({ kind, options }: Kinded & { options: object | null }): Stacks | null {
  const { stacks, options: schema } = viewKind(kind)
  return stacks?.(schema.parse(options ?? {})) ?? null
}

/** Paths of stored files that a view's options name. */
export function filePathsOf({ kind, options }: Pick<View, 'kind' | 'options'>): (string | null)[] {
  const { filePaths, options: schema } = viewKind(kind)
  return filePaths?.(schema.parse(options)) ?? []
}

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
