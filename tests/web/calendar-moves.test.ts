import { describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { eventOf, rangesOf } from '../../web/features/views/kinds/calendar/events.ts'
import {
  datesBetween,
  draggedStart,
  dropPreview,
  dropValues,
  endMovedTo,
  instantAt,
  movedByDays,
  movedTo,
  startMovedTo,
} from '../../web/features/views/kinds/calendar/moves.ts'
import { memoryField } from './memory-records.ts'

/** Clocks there go forward on 2026-03-29 at 2:00 and back on 2026-10-25 at 3:00. */
const BERLIN = { timeZone: 'Europe/Berlin' }
const FIELDS = [
  memoryField('start', 'DateTime', { options: BERLIN }),
  memoryField('end', 'DateTime', { options: BERLIN }),
  memoryField('from', 'Date'),
  memoryField('to', 'Date'),
  memoryField('made', 'CreatedTime', { options: BERLIN }),
]

function rangeOf(fromFieldId: string, toFieldId: string | null = null) {
  const [range] = rangesOf([{ fromFieldId, toFieldId }], FIELDS)
  if (!range) throw new Error(`${fromFieldId} has no range`)
  return range
}

function lying(values: Record<string, CellValue>, fromFieldId: string, toFieldId: string | null = null) {
  const event = eventOf({ id: 1, values: (id) => values[id] ?? null }, rangeOf(fromFieldId, toFieldId))
  if (!event) throw new Error('lies nowhere')
  return event
}

const timed = (start: string, end: string | null) =>
  lying({ start: `${start}:00+00:00`, end: end && `${end}:00+00:00` }, 'start', 'end')

describe('an event', () => {
  test('lies on the days and minutes that clocks in the zone of its field show', () => {
    // 23:30 in UTC is half past midnight in Berlin's winter.
    const event = timed('2026-01-01 23:30', '2026-01-02 00:30')
    expect(event).toMatchObject({ firstDay: '2026-01-02', lastDay: '2026-01-02', isAllDay: false })
    expect([event.startMinute, event.endMinute]).toEqual([30, 90])
  })

  test('does not lie on the day at whose midnight it ends, and stands beside the hours from a day on', () => {
    expect(timed('2026-01-01 20:00', '2026-01-01 23:00')).toMatchObject({
      firstDay: '2026-01-01',
      lastDay: '2026-01-01',
      endMinute: 1440,
      isAllDay: false,
    })
    expect(timed('2026-01-01 20:00', '2026-01-02 20:00').isAllDay).toBe(true)
  })

  test('whose end is before its start lies on its start and says so', () => {
    expect(timed('2026-01-05 10:00', '2026-01-01 10:00')).toMatchObject({
      firstDay: '2026-01-05',
      lastDay: '2026-01-05',
      isReversed: true,
      hasEnd: false,
    })
    expect(lying({ from: '2026-01-05', to: '2026-01-01' }, 'from', 'to').isReversed).toBe(true)
  })

  test('without a beginning, or with text that is no date, lies nowhere', () => {
    const nowhere = (from: CellValue) => eventOf({ id: 1, values: () => from }, rangeOf('from'))
    expect([nowhere(null), nowhere('soon'), nowhere('2026-02-30')]).toEqual([null, null, null])
  })

  test('of a day to an instant lies to the day of that instant', () => {
    const event = lying({ from: '2026-01-01', end: '2026-01-03 10:00:00+00:00' }, 'from', 'end')
    expect(event).toMatchObject({ firstDay: '2026-01-01', lastDay: '2026-01-03', isAllDay: true })
  })
})

describe('an event that is moved', () => {
  test('by days keeps its time of day and its hours when the clocks change', () => {
    expect(movedByDays(timed('2026-03-28 08:00', '2026-03-28 09:30'), 1)).toEqual({
      start: '2026-03-29 07:00:00+00:00',
      end: '2026-03-29 08:30:00+00:00',
    })
    // Days stay days: from 9 to 17 o'clock two days later, though one of them has 23 hours.
    expect(movedByDays(timed('2026-03-26 08:00', '2026-03-28 16:00'), 2)).toEqual({
      start: '2026-03-28 08:00:00+00:00',
      end: '2026-03-30 15:00:00+00:00',
    })
  })

  test('into the hour that is skipped begins an hour later and is as long as before', () => {
    // 2:30 to 3:15 becomes 3:30 to 4:15.
    expect(movedByDays(timed('2026-03-28 01:30', '2026-03-28 02:15'), 1)).toEqual({
      start: '2026-03-29 01:30:00+00:00',
      end: '2026-03-29 02:15:00+00:00',
    })
    expect(instantAt({ day: '2026-03-29', minute: 150 }, 'Europe/Berlin')).toBe(Date.UTC(2026, 2, 29, 1, 30))
    // What clocks show twice is the first of the two.
    expect(instantAt({ day: '2026-10-25', minute: 150 }, 'Europe/Berlin')).toBe(Date.UTC(2026, 9, 25, 0, 30))
  })

  test('by days keeps seconds, and does not go beyond the years that there are', () => {
    const event = lying({ start: '2026-01-01 10:00:07.250+00:00' }, 'start')
    expect(movedByDays(event, 1)).toEqual({ start: '2026-01-02 10:00:07.250+00:00' })
    expect(movedByDays(lying({ from: '9999-12-30' }, 'from'), 5)).toBeNull()
  })

  test('over hours goes by quarters and across midnight, with its length', () => {
    const event = timed('2026-01-05 22:00', '2026-01-05 22:50')
    const start = draggedStart(
      event,
      { day: '2026-01-05', minute: 1380 },
      { day: '2026-01-05', minute: 1440 },
    )
    expect(start).toEqual({ day: '2026-01-06', minute: 0 })
    expect(movedTo(event, start)).toEqual({
      start: '2026-01-05 23:00:00+00:00',
      end: '2026-01-05 23:50:00+00:00',
    })
    const odd = timed('2026-01-05 09:07', null)
    const at = draggedStart(odd, { day: '2026-01-05', minute: 600 }, { day: '2026-01-06', minute: 615 })
    expect(at).toEqual({ day: '2026-01-06', minute: 615 })
  })

  test('from the hours onto a whole day keeps its time', () => {
    const event = timed('2026-01-05 09:00', '2026-01-05 10:00')
    const drag = { subject: { kind: 'move' as const, event }, origin: { day: '2026-01-05', minute: 600 } }
    expect(dropValues({ ...drag, slot: { day: '2026-01-08', minute: null } })).toEqual({
      start: '2026-01-08 09:00:00+00:00',
      end: '2026-01-08 10:00:00+00:00',
    })
    expect(dropValues({ ...drag, slot: drag.origin })).toBeNull()
    expect(dropValues({ ...drag, slot: null })).toBeNull()
  })
})

describe('an end that is moved', () => {
  test('keeps its time of day among days, and is held behind the start', () => {
    const event = timed('2026-01-05 09:00', '2026-01-06 16:00')
    expect(endMovedTo(event, { day: '2026-01-09', minute: null })).toEqual({
      end: '2026-01-09 16:00:00+00:00',
    })
    expect(endMovedTo(event, { day: '2026-01-01', minute: 0 })).toEqual({ end: '2026-01-05 09:15:00+00:00' })
    expect(startMovedTo(event, { day: '2026-01-09', minute: null })).toEqual({
      start: '2026-01-06 09:00:00+00:00',
    })
  })

  test('makes an end where there was none, and there is none to move without a field for it', () => {
    expect(
      endMovedTo(lying({ from: '2026-01-05' }, 'from', 'to'), { day: '2026-01-07', minute: null }),
    ).toEqual({
      to: '2026-01-07',
    })
    expect(endMovedTo(lying({ from: '2026-01-05' }, 'from'), { day: '2026-01-07', minute: null })).toBeNull()
  })

  test('keeps its own time where the range begins with a day', () => {
    const event = lying({ from: '2026-01-01', end: '2026-01-03 10:00:00+00:00' }, 'from', 'end')
    expect(endMovedTo(event, { day: '2026-01-05', minute: null })).toEqual({
      end: '2026-01-05 10:00:00+00:00',
    })
  })

  test('stays on its day where the range begins with a day and had no end', () => {
    const values = endMovedTo(lying({ from: '2026-01-05' }, 'from', 'end'), {
      day: '2026-01-07',
      minute: null,
    })
    expect(values).toEqual({ end: '2026-01-07 09:00:00+00:00' })
    expect(lying({ from: '2026-01-05', ...values }, 'from', 'end').lastDay).toBe('2026-01-07')
  })
})

describe('an empty place that is drawn over', () => {
  test('gives both dates in their order, and one where nothing was drawn', () => {
    const [early, late] = [
      { day: '2026-01-05', minute: 600 },
      { day: '2026-01-05', minute: 690 },
    ]
    const both = { start: '2026-01-05 09:00:00+00:00', end: '2026-01-05 10:30:00+00:00' }
    expect(datesBetween(rangeOf('start', 'end'), late, early)).toEqual(both)
    expect(datesBetween(rangeOf('start', 'end'), early, early)).toEqual({ start: both.start })
    const [day, other] = [
      { day: '2026-01-05', minute: null },
      { day: '2026-01-07', minute: null },
    ]
    expect(datesBetween(rangeOf('from', 'to'), day, other)).toEqual({ from: '2026-01-05', to: '2026-01-07' })
    // An end with a time lies on the last day, also if the start has none.
    const mixed = datesBetween(rangeOf('from', 'end'), day, other)
    expect(mixed).toEqual({ from: '2026-01-05', end: '2026-01-07 09:00:00+00:00' })
    expect(lying(mixed ?? {}, 'from', 'end').lastDay).toBe('2026-01-07')
    // On a whole day a time is wanted all the same: 9 o'clock.
    expect(datesBetween(rangeOf('start', 'end'), day, day)).toEqual({ start: '2026-01-05 08:00:00+00:00' })
  })

  test('is previewed where it will lie', () => {
    const drag = {
      subject: { kind: 'create' as const, range: rangeOf('from', 'to') },
      origin: { day: '2026-01-05', minute: null },
      slot: { day: '2026-01-06', minute: null },
    }
    expect(dropPreview(drag)).toMatchObject({ firstDay: '2026-01-05', lastDay: '2026-01-06' })
  })

  test('by a field that is not written is not movable', () => {
    expect(rangeOf('made').from.isWritable).toBe(false)
  })
})
