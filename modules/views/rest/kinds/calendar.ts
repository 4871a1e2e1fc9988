import { createHash } from 'node:crypto'
import { z } from 'zod'
import { badRequest } from '../../../../src/core/errors.ts'
import { type CalendarOptions, type CalendarRange, VIEW_KINDS } from '../../../../src/core/views/index.ts'
import { readBody } from '../../../../src/wire/rest-base.ts'
import {
  kindChange,
  type MetaKeys,
  metaOf,
  takeMeta,
  type WireKind,
  wireFieldId,
  wireMeta,
} from './wire-kind.ts'

const CalendarBody = z.object({
  calendar_range: z
    .array(
      z.object({
        fk_from_column_id: z.string().max(64),
        fk_to_column_id: wireFieldId.optional(),
      }),
    )
    .max(10)
    .nullish(),
  fk_cover_image_col_id: wireFieldId.optional(),
  meta: wireMeta.nullish(),
})

const META: MetaKeys = {
  active_view: 'scale',
  hide_weekend: 'hideWeekends',
  fk_color_col_id: 'colorFieldId',
}

export const calendar: WireKind = {
  kind: 'calendar',
  path: 'calendars',
  present({ model, options, row }) {
    const { ranges } = options as CalendarOptions
    return {
      title: row.title,
      fk_cover_image_col_id: null,
      calendar_range: ranges.map((range) => ({
        id: rangeId(row.id, range),
        fk_view_id: row.id,
        fk_from_column_id: range.fromFieldId,
        fk_to_column_id: range.toFieldId,
        label: null,
        base_id: model.table.baseId,
      })),
      meta: { ...row.meta, ...metaOf(options, META, VIEW_KINDS.calendar.options.parse({})) },
    }
  },
  read(body) {
    const { calendar_range: ranges, fk_cover_image_col_id: cover, meta } = readBody(CalendarBody, body)
    if (cover != null) throw badRequest('Calendars have no cover images: fk_cover_image_col_id must be null')
    const { options, rest } = takeMeta(meta, META)
    if (ranges !== undefined) {
      options.ranges = (ranges ?? []).map(({ fk_from_column_id: from, fk_to_column_id: to }) => ({
        fromFieldId: from,
        toFieldId: to ?? null,
      }))
    }
    return kindChange(options, meta == null ? undefined : rest)
  },
}

/** A stable id, derived from the fields of the range, because clients may store it. */
function rangeId(viewId: string, { fromFieldId, toFieldId }: CalendarRange): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([viewId, fromFieldId, toFieldId]))
    .digest()
  return `cvr${BigInt(`0x${hash.toString('hex')}`)
    .toString(36)
    .slice(0, 14)}`
}
