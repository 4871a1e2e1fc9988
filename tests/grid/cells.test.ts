import { describe, expect, test } from 'bun:test'
import { renderToStaticMarkup } from 'react-dom/server'
import { emailHref, phoneHref, urlHref } from '../../web/cells/address.tsx'
import { decimalCell, percentCell } from '../../web/cells/number.tsx'
import { optionLines } from '../../web/cells/select-editor.tsx'
import { memoryField } from '../web/memory-records.ts'

describe('links', () => {
  test.each([
    ['https://example.com/a', 'https://example.com/a'],
    ['example.com', 'https://example.com'],
    ['example.com:8080/x', 'https://example.com:8080/x'],
    ['localhost:3000', 'https://localhost:3000'],
    ['mailto:ann@example.com', 'mailto:ann@example.com'],
    ['javascript:alert(1)', null],
    [' JaVaScRiPt:alert(1)', null],
    ['data:text/html,x', null],
    ['file:///etc/passwd', null],
    ['two words', null],
    ['', null],
  ])('%s opens %p', (text, href) => {
    expect(urlHref(text)).toBe(href)
  })

  test('add nothing to an address', () => {
    expect(emailHref('ann@example.com')).toBe('mailto:ann@example.com')
    expect(emailHref('ann@example.com?bcc=eve@example.com')).toBeNull()
    expect(phoneHref('+49 (30) 12-34')).toBe('tel:+49301234')
    expect(phoneHref('no')).toBeNull()
  })
})

describe('numbers of connected databases that a double does not hold', () => {
  const look = { field: memoryField('share'), variant: 'grid', lines: 1, width: 100 } as const

  test.each([
    ['33.3333333333333333', '33.33', '33.33%'],
    ['NaN', 'NaN', 'NaN'],
  ])('draw %s as a decimal number and a percentage', (value, asDecimal, asPercent) => {
    const decimal = decimalCell.View({ ...look, value, options: { precision: 2, thousands: false } })
    const percent = (bar: boolean) => percentCell.View({ ...look, value, options: { precision: 2, bar } })
    expect(renderToStaticMarkup(decimal)).toContain(`>${asDecimal}<`)
    expect(renderToStaticMarkup(percent(false))).toContain(`>${asPercent}<`)
    expect(renderToStaticMarkup(percent(true))).toContain(`>${asPercent}<`)
  })
})

describe('optionLines', () => {
  const choices = ['In progress', 'Done', 'Not done', 'Domain'].map((title, at) => ({
    id: `s${at}`,
    title,
    color: '#fff',
  }))
  const titles = (typed: string, canCreate = true) =>
    optionLines(choices, typed, canCreate).map((line) =>
      line.kind === 'option' ? line.choice.title : `+${line.title}`,
    )

  test('puts those first that begin with what was typed', () => {
    expect(titles('do')).toEqual(['Done', 'Domain', 'Not done', '+do'])
  })

  test('offers to create only what is not there', () => {
    expect(titles('DONE')).toEqual(['Done', 'Not done'])
    expect(titles('x')).toEqual(['+x'])
    expect(titles('x', false)).toEqual([])
    expect(titles('')).toHaveLength(4)
  })
})
