import type { View, ViewKind } from '../model.ts'
import { type CalendarOptions, calendar } from './calendar.ts'
import { type FormOptions, form } from './form.ts'
import { type GalleryOptions, gallery } from './gallery.ts'
import { type GridOptions, grid } from './grid.ts'
import { type KanbanOptions, kanban } from './kanban.ts'
import { type MapOptions, map } from './map.ts'
import { optionsOfKind, type Stacks, type ViewKindDefinition } from './view-kind.ts'

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

/** All view kinds in menu order. */
export const VIEW_KINDS: { [K in ViewKind]: ViewKindDefinition<OptionsByKind[K]> } = {
  grid,
  form,
  gallery,
  kanban,
  calendar,
  map,
}

/** A view kind's definition with untyped options. */
export const viewKind = (kind: ViewKind): ViewKindDefinition<object> =>
  VIEW_KINDS[kind] as ViewKindDefinition<object>

type Kinded = Pick<View, 'kind'>

/** True for forms, which show no records. */
export const collectsAnswers = ({ kind }: Kinded): boolean => viewKind(kind).collectsAnswers === true

/** True for views whose columns are fields: new fields appear in them. */
export const isTabular = ({ kind }: Kinded): boolean => viewKind(kind).isTabular === true

/** True for views whose records can be grouped. */
export const canGroup = ({ kind }: Kinded): boolean => viewKind(kind).canGroup === true

/** The stacks of a view; null for kinds without stacks. Accepts stored options. */
export function stacksOf({ kind, options }: Kinded & { options: object | null }): Stacks | null {
  const { stacks, options: schema } = viewKind(kind)
  return stacks?.(schema.parse(options ?? {})) ?? null
}

/** Paths of the stored files in a view's options. */
export function filePathsOf({ kind, options }: Pick<View, 'kind' | 'options'>): (string | null)[] {
  const { filePaths, options: schema } = viewKind(kind)
  return filePaths?.(schema.parse(options)) ?? []
}

/** As `optionsOfKind`, by the kind's name. */
export const optionsOf = <K extends ViewKind>(
  view: Pick<View, 'kind' | 'options'>,
  kind: K,
): OptionsByKind[K] => optionsOfKind(VIEW_KINDS[kind], view)
