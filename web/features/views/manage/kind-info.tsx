import { CalendarDays, ClipboardList, Grid3x3, Images, Kanban, type LucideIcon, MapPin } from 'lucide-react'
import type { ReactNode } from 'react'
import type { View, ViewKind } from '../../../../src/core/model.ts'
import { t } from '../../../i18n.ts'
import { ChosenIcon, readIcon } from '../icons/chosen-icon.tsx'

/** How a kind of view is shown where views are listed and made. */
export interface KindInfo {
  /** In the kind's own colour. */
  Icon: (props: { size?: number | string }) => ReactNode
  /** "Kanban". */
  label: () => string
  /** "New kanban view". */
  newLabel: () => string
  /** One line of what it is for. */
  purpose: () => string
}

const colored =
  (Icon: LucideIcon, kind: ViewKind): KindInfo['Icon'] =>
  ({ size = 14 }) => <Icon size={size} style={{ color: `var(--color-kind-${kind})` }} aria-hidden />

/** Every kind of view, in the order in which they are offered. */
export const KIND_INFO: Record<ViewKind, KindInfo> = {
  grid: {
    Icon: colored(Grid3x3, 'grid'),
    label: () => t('Grid'),
    newLabel: () => t('New grid view'),
    purpose: () => t('Records in rows and columns'),
  },
  form: {
    Icon: colored(ClipboardList, 'form'),
    label: () => t('Form'),
    newLabel: () => t('New form view'),
    purpose: () => t('Collect records with a form'),
  },
  gallery: {
    Icon: colored(Images, 'gallery'),
    label: () => t('Gallery'),
    newLabel: () => t('New gallery view'),
    purpose: () => t('Cards with cover images'),
  },
  kanban: {
    Icon: colored(Kanban, 'kanban'),
    label: () => t('Kanban'),
    newLabel: () => t('New kanban view'),
    purpose: () => t('Cards in stacks, by status for example'),
  },
  calendar: {
    Icon: colored(CalendarDays, 'calendar'),
    label: () => t('Calendar'),
    newLabel: () => t('New calendar view'),
    purpose: () => t('Records by date'),
  },
  map: {
    Icon: colored(MapPin, 'map'),
    label: () => t('Map'),
    newLabel: () => t('New map view'),
    purpose: () => t('Records as pins on a map'),
  },
}

/** The kinds in the order in which they are offered. */
export const KINDS = Object.keys(KIND_INFO) as ViewKind[]

/** The icon of a view: one that somebody chose for it, or its kind's. */
export function ViewIcon({ view, size = 14 }: { view: Pick<View, 'kind' | 'meta'>; size?: number }) {
  const chosen = readIcon(view.meta)
  const { Icon } = KIND_INFO[view.kind]
  return chosen === null ? <Icon size={size} /> : <ChosenIcon text={chosen} size={size} />
}
