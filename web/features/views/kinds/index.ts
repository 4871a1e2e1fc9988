import type { ReactNode } from 'react'
import { createElement } from 'react'
import type { ViewKind } from '../../../../src/core/model.ts'
import { lazyPart } from '../../../navigation/lazy-screen.ts'
import { TableSkeleton } from '../../layout/table-skeleton.tsx'
import { TableView } from '../../records/screen/table-view.tsx'
import type { KindScreenProps } from '../../records/screen/view-frame.tsx'

const cards = createElement(TableSkeleton, { shape: 'cards' })
const canvas = createElement(TableSkeleton, { shape: 'canvas' })

/** The screen of each kind of view. The grid's comes with the table; the others are loaded when one is opened. */
export const KIND_SCREENS: Record<ViewKind, (props: KindScreenProps) => ReactNode> = {
  grid: TableView,
  form: lazyPart(() => import('./form/form-screen.tsx'), 'FormScreen', canvas),
  gallery: lazyPart(() => import('./gallery/gallery-screen.tsx'), 'GalleryScreen', cards),
  kanban: lazyPart(() => import('./kanban/kanban-screen.tsx'), 'KanbanScreen', cards),
  calendar: lazyPart(() => import('./calendar/calendar-screen.tsx'), 'CalendarScreen', canvas),
  map: lazyPart(() => import('./map/map-screen.tsx'), 'MapScreen', canvas),
}
