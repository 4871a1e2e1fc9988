import { describe, expect, test } from 'bun:test'
import { unusedTitle } from '../../web/features/bases/unused-title.ts'
import { formatAgo, matchLanguage, t, tn } from '../../web/i18n.ts'
import { readContinuePath } from '../../web/routes/continue-path.ts'
import { matches } from '../../web/ui/matches.ts'
import { place } from '../../web/ui/place.ts'
import { beforeAfterMove, moveBefore } from '../../web/ui/sortable.tsx'

describe('readContinuePath', () => {
  test('refuses whatever leads out of the app', () => {
    const evil = [
      '//evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      'https://evil.example',
      'javascript:alert(1)',
    ]
    for (const text of [...evil, '/\t/evil.example', '/nc\\x', 'nc/p1', '', ' /nc', 7, null, undefined]) {
      expect(readContinuePath(text)).toBe(null)
    }
  })

  test('refuses the pages of those who are signed out: they would lead in a circle', () => {
    for (const text of ['/signin', '/SignIn?continueAfterSignIn=/x', '/signup/abc', '/reset/1', '/']) {
      expect(readContinuePath(text)).toBe(null)
    }
  })

  test('gives paths of ours with their query', () => {
    expect(readContinuePath('/nc/p1/m2/vw3?rowId=7')).toBe('/nc/p1/m2/vw3?rowId=7')
    expect(readContinuePath('/signing-bonuses')).toBe('/signing-bonuses')
  })
})

describe('texts', () => {
  test('take their parameters and keep a placeholder that has none', () => {
    expect(t('Delete "{title}" and {other}', { title: 'Cars' })).toBe('Delete "Cars" and {other}')
  })

  test('count', () => {
    expect([0, 1, 2, 1234].map((n) => tn('1 record', '{n} records', n))).toEqual([
      '0 records',
      '1 record',
      '2 records',
      '1,234 records',
    ])
  })

  test('say how long ago a time of the server was', () => {
    expect(formatAgo('2026-03-01 10:00:00+00:00', Date.parse('2026-03-01T13:00:00Z'))).toBe('3 hours ago')
  })

  test('fall back to English where the browser wants what is not offered', () => {
    expect(matchLanguage(['tlh', 'de-AT'], ['en', 'de'])).toBe('de')
    expect(matchLanguage(['pt-BR'], ['en', 'pt', 'pt_BR'])).toBe('pt_BR')
    expect(matchLanguage(['zh-TW'], ['zh-Hans', 'zh-Hant'])).toBe('zh-Hant')
    expect(matchLanguage(['tlh'], ['en', 'de'])).toBe('en')
  })
})

describe('lists', () => {
  test('find every word typed, whatever case and accents', () => {
    expect(matches('Résumés of 2026', 'resume 26')).toBe(true)
    expect(matches('Résumés of 2026', 'resume 27')).toBe(false)
    expect(matches('anything', '')).toBe(true)
  })

  test('offer the first title that nobody has taken', () => {
    expect(unusedTitle('Table', [])).toBe('Table-1')
    expect(unusedTitle('Table', ['table-1', 'Table-3'])).toBe('Table-2')
  })

  test('name the item that a moved one stands ahead of', () => {
    const ids = ['a', 'b', 'c']
    expect(beforeAfterMove(ids, 'a', 1)).toBe('c')
    expect(beforeAfterMove(ids, 'a', 2)).toBe(null)
    expect(beforeAfterMove(ids, 'c', 0)).toBe('a')
    const items = ids.map((id) => ({ id }))
    expect(moveBefore(items, 'a', 'c').map(({ id }) => id)).toEqual(['b', 'a', 'c'])
    expect(moveBefore(items, 'a', null).map(({ id }) => id)).toEqual(['b', 'c', 'a'])
    expect(moveBefore(items, 'gone', null)).toBe(items)
  })
})

describe('place', () => {
  const page = { width: 1000, height: 600 }
  const size = { width: 200, height: 150 }
  const anchor = { left: 100, top: 100, width: 80, height: 30 }

  test('puts a popover under the start of its anchor, which is the right edge in Arabic', () => {
    expect(place(anchor, size, page, 'bottom-start', 'ltr')).toMatchObject({ left: 100, top: 134 })
    const right = { ...anchor, left: 500 }
    expect(place(right, size, page, 'bottom-start', 'rtl')).toMatchObject({ left: 380, top: 134 })
  })

  test('flips above where there is more room, and stays in the window', () => {
    expect(place({ ...anchor, top: 550 }, size, page, 'bottom-start', 'ltr')).toMatchObject({ top: 396 })
    expect(place({ ...anchor, left: 950 }, size, page, 'bottom-start', 'ltr')).toMatchObject({ left: 792 })
  })
})
