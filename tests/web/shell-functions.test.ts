import { describe, expect, test } from 'bun:test'
import { PAGE_LANGUAGES } from '../../src/core/shares.ts'
import { DEFAULT_THEME, readTheme } from '../../src/core/theme.ts'
import { BOX_WIDTH, boxHeight, layoutBoxes } from '../../web/features/erd/layout.ts'
import { themeProperties } from '../../web/features/layout/theme.ts'
import { unusedTitle } from '../../web/features/layout/unused-title.ts'
import { readLatestBuild, watchBuild } from '../../web/features/shell/build-watch.ts'
import { positionNote } from '../../web/grid/parts/floating-note.tsx'
import { availableLanguages, formatAgo, matchLanguage } from '../../web/i18n.ts'
import { readContinuePath } from '../../web/navigation/continue-path.ts'
import { isDomConflict, mayRenderAgain } from '../../web/navigation/dom-conflicts.ts'
import { keyed } from '../../web/ui/keyed.ts'
import { matches } from '../../web/ui/matches.ts'
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
    const circles = [
      '/signin',
      '/SignIn?continueAfterSignIn=/x',
      '/signup/abc',
      '/reset/1',
      '/',
      '/nc?logout',
    ]
    for (const text of [...circles, '/nc/p1?a=1&logout=true']) {
      expect(readContinuePath(text)).toBe(null)
    }
  })

  test('gives paths of ours with their query', () => {
    expect(readContinuePath('/nc/p1/m2/vw3?rowId=7')).toBe('/nc/p1/m2/vw3?rowId=7')
    expect(readContinuePath('/signing-bonuses')).toBe('/signing-bonuses')
  })
})

describe('languages', () => {
  test('of public pages are those that have texts', () => {
    expect(PAGE_LANGUAGES).toEqual(availableLanguages())
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
  test('give equal items keys of their own, which stay theirs when others come before', () => {
    const keys = (items: string[]) => keyed(items).map(({ key, item }) => [item, key])
    expect(new Set(keyed(['a', 'a', 'b']).map(({ key }) => key)).size).toBe(3)
    expect(keys(['x', 'a', 'b']).slice(1)).toEqual(keys(['a', 'b']))
  })

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

describe('the note of a refused cell', () => {
  const page = { width: 1000, height: 600 }
  const size = { width: 200, height: 150 }
  const anchor = { left: 100, top: 100, width: 80, height: 30 }

  test('stands under the start of its cell, which is the right edge in Arabic', () => {
    expect(positionNote(anchor, size, page, 'ltr')).toMatchObject({ left: 100, top: 134 })
    const right = { ...anchor, left: 500 }
    expect(positionNote(right, size, page, 'rtl')).toMatchObject({ left: 380, top: 134 })
  })

  test('flips above where there is more room, and stays in the window', () => {
    expect(positionNote({ ...anchor, top: 550 }, size, page, 'ltr')).toMatchObject({ top: 396 })
    expect(positionNote({ ...anchor, left: 950 }, size, page, 'ltr')).toMatchObject({ left: 792 })
  })
})

describe('the theme of a base', () => {
  test('is hex in capitals without alpha, and its default for each colour that is none', () => {
    expect(readTheme({ theme: { primaryColor: '#abc', accentColor: '#0b7a7580' } })).toEqual({
      primaryColor: '#AABBCC',
      accentColor: '#0B7A75',
    })
    for (const theme of [undefined, null, 'red', 7, [], { primaryColor: 'red' }, { accentColor: '#12' }]) {
      expect(readTheme({ theme })).toEqual(DEFAULT_THEME)
    }
    expect(themeProperties(DEFAULT_THEME)).toEqual({})
  })

  test('can be read, whichever colours are chosen', () => {
    const parts = ['00', '55', '88', 'BB', 'FF']
    const all = parts.flatMap((red) =>
      parts.flatMap((green) => parts.map((blue) => `#${red}${green}${blue}`)),
    )
    for (const color of all) {
      const of = themeProperties({ primaryColor: color, accentColor: color })
      const ratio = (text: string, ground: string) => contrast(of[text] ?? text, of[ground] ?? ground)
      const pairs = [
        ['--color-on-primary', '--color-primary'],
        ['--color-primary-text', '--color-primary-soft-2'],
        ['--color-primary-text', '#eef0f4'],
        ['--color-accent-text', '#eef0f4'],
      ] as const
      const faint = pairs.filter(([text, ground]) => ratio(text, ground) < 4.5)
      expect([color, ...faint]).toEqual([color])
      // What is no text, as a ring around what has the focus.
      expect([color, ratio('--color-primary', '#ffffff') >= 3]).toEqual([color, true])
    }
  })
})

/** The contrast of two colours, by WCAG 2.2. */
function contrast(one: string, other: string): number {
  const luminance = (hex: string) =>
    [0.2126, 0.7152, 0.0722].reduce((sum, weight, at) => {
      const part = Number.parseInt(hex.slice(1 + at * 2, 3 + at * 2), 16) / 255
      return sum + weight * (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    }, 0)
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

describe('watchBuild', () => {
  test('tells of another build, and of none while the server is away or says something else', async () => {
    let answer = () => Response.json({ id: 'old' })
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => answer() })
    let news = 0
    let looks = 0
    let looked = () => {}
    const stop = watchBuild({
      own: () => 'old',
      latest: async () => {
        looks++
        return readLatestBuild(server.url.origin).finally(() => setTimeout(() => looked()))
      },
      everyMs: 5,
      onNew: () => news++,
    })
    const nextLook = () =>
      new Promise<void>((resolve) => {
        const before = looks
        looked = () => looks > before && resolve()
      })
    for (const [say, expected] of [
      [() => Response.json({ id: 'old' }), false],
      [() => new Response('<p>Bad gateway</p>', { status: 502 }), false],
      [() => new Response('<p>A proxy</p>'), false],
      [() => Response.json({ id: 'new' }), true],
    ] as const) {
      answer = say
      await nextLook()
      await nextLook()
      expect(news > 0).toBe(expected)
    }
    stop()
    await server.stop(true)
  })
})

describe('a page that another program has had its hand in', () => {
  test('is drawn anew, but not for ever', () => {
    expect(isDomConflict(new DOMException('not a child of this node', 'NotFoundError'))).toBe(true)
    expect(isDomConflict(new TypeError("Cannot read properties of null (reading 'parentNode')"))).toBe(true)
    expect(isDomConflict(new TypeError('x is not a function'))).toBe(false)
    expect([1, 2, 3, 4].map((ms) => mayRenderAgain(ms))).toEqual([true, true, true, false])
    expect(mayRenderAgain(20_000)).toBe(true)
  })
})

describe('the places of a diagram', () => {
  test('are about as wide as high for many tables without links, and never one upon the other', () => {
    const tables = Array.from({ length: 200 }, (_, n) => ({
      id: `m${n}`,
      title: `Table ${n}`,
      sourceId: 'b1',
      isJunction: false,
      folded: [],
      isFoldable: false,
      fields: Array.from({ length: n % 7 }, (_, at) => ({
        id: `c${n}-${at}`,
        title: 'Field',
        type: 'Number' as const,
        isPrimaryKey: false,
        isForeignKey: false,
        isDisplay: false,
      })),
    }))
    const links = [0, 1, 2].map((n) => ({
      id: `l${n}`,
      from: { tableId: `m${n}`, fieldId: null, isMany: true },
      to: { tableId: `m${n + 1}`, fieldId: null, isMany: true },
    }))
    const places = [...layoutBoxes({ tables, links })].map(([id, place]) => ({
      ...place,
      height: boxHeight(tables.find((table) => table.id === id) ?? { fields: [], isFoldable: false }),
    }))
    expect(places).toHaveLength(200)
    const width = Math.max(...places.map(({ x }) => x + BOX_WIDTH))
    const height = Math.max(...places.map((one) => one.y + one.height))
    expect(width / height).toBeWithin(0.8, 3)
    const overlaps = places.filter((one, at) =>
      places.some(
        (other, index) =>
          index > at &&
          Math.abs(one.x - other.x) < BOX_WIDTH &&
          one.y < other.y + other.height &&
          other.y < one.y + one.height,
      ),
    )
    expect(overlaps).toEqual([])
  })
})
