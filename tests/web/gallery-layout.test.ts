import { describe, expect, test } from 'bun:test'
import { cardHeight, linesPerField } from '../../web/features/views/cards/card-layout.ts'
import { run, toggled } from '../../web/features/views/cards/chosen.ts'
import {
  dropBar,
  dropIndex,
  layoutGallery,
  placeAfterKey,
  placeOf,
  revealTop,
  rowsIn,
} from '../../web/features/views/kinds/gallery/gallery-layout.ts'

const HEIGHT = cardHeight(4, true)

describe('layoutGallery', () => {
  test('fills the width with cards of equal size, one in a row on a phone', () => {
    for (const width of [600, 1000, 1280, 2560]) {
      const layout = layoutGallery(width, 100, HEIGHT)
      const used = layout.columns * layout.columnStep - (layout.columnStep - layout.cardWidth)
      expect(width - 2 * layout.inset - used).toBeGreaterThanOrEqual(0)
      expect(width - 2 * layout.inset - used).toBeLessThan(layout.columns)
      expect(layout.cardWidth).toBeGreaterThanOrEqual(230)
    }
    expect(layoutGallery(390, 3, HEIGHT)).toMatchObject({ columns: 1, rows: 3, cardWidth: 370 })
    // Not measured yet.
    expect(layoutGallery(0, 3, HEIGHT)).toMatchObject({ columns: 1, cardWidth: 0 })
  })

  test('places every card once, without gaps, and names the rows in sight', () => {
    const layout = layoutGallery(1000, 100_000, HEIGHT)
    expect(placeOf(layout, 0)).toEqual({ start: layout.inset, top: layout.inset })
    expect(placeOf(layout, layout.columns)).toEqual({
      start: layout.inset,
      top: layout.inset + layout.rowStep,
    })
    expect(rowsIn(layout, 0, 500)).toEqual({ first: 0, last: 1 })
    const last = rowsIn(layout, layout.height - 700, layout.height)
    expect(last.last).toBe(layout.rows - 1)
    expect(rowsIn(layoutGallery(1000, 0, HEIGHT), 0, 500).last).toBe(-1)
  })

  test('is taller by each shown field, and by the picture', () => {
    expect(cardHeight(5, true) - cardHeight(4, true)).toBe(cardHeight(2, false) - cardHeight(1, false))
    expect(cardHeight(4, true)).toBeGreaterThan(cardHeight(4, false))
    // A card without its picture gives the room to its texts.
    expect(linesPerField(4, 0)).toBe(1)
    expect(linesPerField(4, 160)).toBe(3)
    expect(linesPerField(0, 160)).toBe(1)
  })
})

describe('moving about in a gallery', () => {
  const layout = layoutGallery(900, 10, HEIGHT)
  const ltr = { isRtl: false, pageRows: 2 }

  test('goes by the arrows, turned round where one reads from the right', () => {
    expect(layout.columns).toBe(3)
    expect(placeAfterKey(layout, 0, 'ArrowRight', ltr)).toBe(1)
    expect(placeAfterKey(layout, 1, 'ArrowRight', { ...ltr, isRtl: true })).toBe(0)
    expect(placeAfterKey(layout, 0, 'ArrowLeft', ltr)).toBe(0)
    expect(placeAfterKey(layout, 4, 'ArrowUp', ltr)).toBe(1)
    expect(placeAfterKey(layout, 1, 'ArrowUp', ltr)).toBe(1)
    expect(placeAfterKey(layout, 8, 'ArrowDown', ltr)).toBe(9)
    expect(placeAfterKey(layout, 1, 'PageDown', ltr)).toBe(7)
    expect(placeAfterKey(layout, 4, 'End', ltr)).toBe(9)
    expect(placeAfterKey(layout, 4, 'x', ltr)).toBeNull()
  })

  test('scrolls as little as it takes to show a card', () => {
    expect(revealTop(layout, 0, 0, 800)).toBe(0)
    expect(revealTop(layout, 0, 500, 800)).toBe(0)
    const top = revealTop(layout, 9, 0, 800)
    expect(placeOf(layout, 9).top + HEIGHT).toBeLessThanOrEqual(top + 800)
    expect(revealTop(layout, 9, top, 800)).toBe(top)
  })

  test('lets a card go between two others, or behind the last', () => {
    const { columnStep, rowStep, inset } = layout
    expect(dropIndex(layout, inset + 5, inset + 5, 10)).toBe(0)
    expect(dropIndex(layout, inset + columnStep * 0.7, inset + 5, 10)).toBe(1)
    expect(dropIndex(layout, inset + columnStep * 2.9, inset + 5, 10)).toBe(3)
    expect(dropIndex(layout, inset, inset + rowStep * 30, 10)).toBe(10)
    // At the end of a row the bar stands there, and not at the start of the next.
    expect(dropBar(layout, inset + columnStep * 2.9, 3).top).toBe(inset)
    expect(dropBar(layout, inset + 2, 3).top).toBe(inset + rowStep)
  })
})

describe('choosing cards', () => {
  test('toggles one, takes runs in either direction, and leaves out what is not loaded', () => {
    const one = toggled({ kind: 'some', ids: new Set() }, 7)
    expect(one).toEqual({ kind: 'some', ids: new Set([7]) })
    expect(toggled(one, 7)).toEqual({ kind: 'some', ids: new Set() })
    const idAt = (index: number) => (index === 3 ? undefined : index + 100)
    expect(run(idAt, 5, 2)).toEqual({ kind: 'some', ids: new Set([102, 104, 105]) })
  })
})
