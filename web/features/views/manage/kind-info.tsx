import { CalendarDays, ClipboardList, Grid3x3, Images, Kanban, type LucideIcon, MapPin } from 'lucide-react'
import type { ReactNode } from 'react'
import type { View, ViewKind } from '../../../../src/core/model.ts'
import { m } from '../../../messages.gen.ts'
import { ChosenIcon, readIcon } from '../icons/chosen-icon.tsx'

/** Display of a view kind in lists and the "create view" menu. */
export interface KindInfo {
  /** In the kind's own colour. */
  Icon: (props: { size?: number | string }) => ReactNode
  /** "Kanban". */
  label: () => string
  /** "New kanban view". */
  newLabel: () => string
  /** One-line description. */
  purpose: () => string
}

const colored =
  (Icon: LucideIcon, kind: ViewKind): KindInfo['Icon'] =>
  ({ size = 14 }) => <Icon size={size} style={{ color: `var(--color-kind-${kind})` }} aria-hidden />

/** Every kind of view, in the order in which they are offered. */
export const KIND_INFO: Record<ViewKind, KindInfo> = {
  grid: {
    Icon: colored(Grid3x3, 'grid'),
    label: () => m.views_grid(),
    newLabel: () => m.views_new_grid_view(),
    purpose: () => m.views_records_in_rows_and_columns(),
  },
  form: {
    Icon: colored(ClipboardList, 'form'),
    label: () => m.views_form(),
    newLabel: () => m.views_new_form_view(),
    purpose: () => m.views_collect_records_with_a_form(),
  },
  gallery: {
    Icon: colored(Images, 'gallery'),
    label: () => m.views_gallery(),
    newLabel: () => m.views_new_gallery_view(),
    purpose: () => m.views_cards_with_cover_images(),
  },
  kanban: {
    Icon: colored(Kanban, 'kanban'),
    label: () => m.views_kanban(),
    newLabel: () => m.views_new_kanban_view(),
    purpose: () => m.views_cards_stacks_status_example(),
  },
  calendar: {
    Icon: colored(CalendarDays, 'calendar'),
    label: () => m.views_calendar(),
    newLabel: () => m.views_new_calendar_view(),
    purpose: () => m.views_records_by_date(),
  },
  map: {
    Icon: colored(MapPin, 'map'),
    label: () => m.views_map(),
    newLabel: () => m.views_new_map_view(),
    purpose: () => m.views_records_pins_map(),
  },
}

/** The kinds in the order in which they are offered. */
export const KINDS = Object.keys(KIND_INFO) as ViewKind[]

/** The icon of a view: its own or that of its kind. */
export function ViewIcon({ view, size = 14 }: { view: Pick<View, 'kind' | 'meta'>; size?: number }) {
  const chosen = readIcon(view.meta)
  const { Icon } = KIND_INFO[view.kind]
  return chosen === null ? <Icon size={size} /> : <ChosenIcon text={chosen} size={size} />
}
