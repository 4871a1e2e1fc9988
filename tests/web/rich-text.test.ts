import { describe, expect, test } from 'bun:test'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { parseMarkdown, plainText, safeAddress } from '../../web/rich-text/markdown.ts'
import { RichText } from '../../web/rich-text/rich-text.tsx'

const drawn = (text: string): string =>
  renderToStaticMarkup(createElement(RichText, { text }))
    .replace(/ (?:class|dir|target|rel|aria-label)="[^"]*"/g, '')
    .replace(/^<div>|<\/div>$/g, '')

describe('rich text', () => {
  test.each([
    [
      '**bold** *it* _it_ ++under++ ~~gone~~ `a**b`',
      '<p><strong>bold</strong> <em>it</em> <em>it</em> <u>under</u> <s>gone</s> <code>a**b</code></p>',
    ],
    ['# A\n## B\n### C', '<h2>A</h2><h3>B</h3><h4>C</h4>'],
    ['> one\n> two', '<blockquote>one<br/>two</blockquote>'],
    ['- a\n- b\n\n1. c', '<ul><li>a</li><li>b</li></ul><ol><li>c</li></ol>'],
    [
      '- [x] done',
      '<ul><li data-box="true"><input type="checkbox" readOnly="" disabled="" checked=""/>done</li></ul>',
    ],
    ['a\nb\n\nc', '<p>a<br/>b</p><p>c</p>'],
    [
      '[x](https://a.org/b) https://c.org.',
      '<p><a href="https://a.org/b">x</a> <a href="https://c.org">https://c.org</a>.</p>',
    ],
    ['**bold *and* it**', '<p><strong>bold <em>and</em> it</strong></p>'],
    ['2 * 3 * 4, snake_case_name, a ** b', '<p>2 * 3 * 4, snake_case_name, a ** b</p>'],
    ['\\*not\\*', '<p>*not*</p>'],
  ])('%j', (text, html) => {
    expect(drawn(text)).toBe(html)
  })

  test('runs nothing that stands in it', () => {
    const hostile = '<img src=x onerror=alert(1)> [x](javascript:alert(1)) [y](data:text/html,z) <b>b</b>'
    expect(drawn(hostile)).not.toMatch(/<img|<b>|href/)
    expect(drawn('[x](https://a.org/"onmouseover="alert(1))')).not.toMatch(/" ?onmouseover/)
    for (const address of ['javascript:alert(1)', 'JAVASCRIPT:x', ' https://a.org', '//a.org', 'file:///x'])
      expect(safeAddress(address)).toBeNull()
  })

  test('takes no longer for signs without an end', () => {
    const text = '**a ++b ~~c [d](e `'.repeat(1000)
    expect(plainText(text)).toContain('c [d](e')
    expect(parseMarkdown('> '.repeat(5000)).length).toBe(1)
  })
})
