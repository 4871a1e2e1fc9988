import type { ViewKind } from '../../../../src/core/model.ts'
import { calendar } from './calendar.ts'
import { form } from './form.ts'
import { gallery } from './gallery.ts'
import { grid } from './grid.ts'
import { kanban } from './kanban.ts'
import { map } from './map.ts'
import type { WireKind } from './wire-kind.ts'

/** How REST clients read and write each kind of view. */
export const WIRE_KINDS: Record<ViewKind, WireKind> = { grid, form, gallery, kanban, calendar, map }
