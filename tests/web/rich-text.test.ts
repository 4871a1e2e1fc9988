import { describe, expect, test } from 'bun:test'
import { Editor, getSchema, type JSONContent } from '@tiptap/core'
import { EditorState } from '@tiptap/pm/state'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { openMarkdown, richTextExtensions, toMarkdown } from '../../web/rich-text/document.ts'
import { parseMarkdown, plainText, safeAddress } from '../../web/rich-text/markdown.ts'
import { RichText } from '../../web/rich-text/rich-text.tsx'
import { cpuTimeMs } from '../support/cpu-time.ts'

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
    ['**a\\*\\*b**', '<p><strong>a**b</strong></p>'],
    ['- a\n  b', '<ul><li>a<br/>b</li></ul>'],
    [
      '- a\n- [ ] b',
      '<ul><li>a</li></ul><ul><li data-box="false"><input type="checkbox" readOnly="" disabled=""/>b</li></ul>',
    ],
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

  test('saves a text of many blocks in a time that grows with its size', () => {
    // Comparing every block with every other would take minutes of processor time.
    const text = Array.from({ length: 30_000 }, (_, at) => `line ${at}\n\n`).join('')
    const usedBefore = cpuTimeMs()
    const opened = openMarkdown(text)
    const document = getSchema(richTextExtensions()).nodeFromJSON(opened.content)
    expect(toMarkdown(document, opened)).toBe(text)
    const { content = [] } = opened.content
    const edited = getSchema(richTextExtensions()).nodeFromJSON({
      type: 'doc',
      content: [{ type: 'paragraph', content: [{ type: 'text', text: 'first' }] }, ...content],
    })
    expect(toMarkdown(edited, opened)).toBe(`first\n\n${text}`)
    expect(cpuTimeMs() - usedBefore).toBeLessThan(8000)
  })

  test('takes no longer for signs without an end', () => {
    const text = '**a ++b ~~c [d](e `'.repeat(1000)
    expect(plainText(text)).toContain('c [d](e')
    expect(parseMarkdown('> '.repeat(5000)).length).toBe(1)
  })
})

/** The document of `markdown` after `edit` changed the JSON of its blocks. */
function edited(markdown: string, edit: (blocks: JSONContent[]) => void): string {
  const opened = openMarkdown(markdown)
  const content = structuredClone(opened.content)
  edit(content.content ?? [])
  const schema = getSchema(richTextExtensions())
  return toMarkdown(schema.nodeFromJSON(content), opened)
}

const text = (value: string, ...marks: string[]): JSONContent => ({
  type: 'text',
  text: value,
  marks: marks.map((type) => ({ type })),
})
const written = (...content: JSONContent[]): string =>
  edited('', (blocks) => blocks.splice(0, 1, { type: 'paragraph', content }))

describe('the Markdown of an edited rich text', () => {
  test.each([
    'a\n\n\n\n* one\n* two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n',
    '<b>kept</b> <img src=x>\n***\n```js\nconst a = 1\n```',
    '\n\nSetext\n======\n\n1) a\n7) b\r\n\r\n_it_ __x__ snake_case 2 * 3',
    '',
    '   ',
    '> a\n>\n>b\n\n#  Heading\n[x](https://a.org "title")',
  ])('is the stored one as long as nothing changed: %j', (markdown) => {
    expect(edited(markdown, () => undefined)).toBe(markdown)
  })

  test('keeps the source of the blocks that did not change', () => {
    const source = '* one\n* two\n\n\n<b>x</b> _y_\n# Title\nlast\n'
    const next = edited(source, (blocks) => {
      blocks[2] = { type: 'heading', attrs: { level: 2 }, content: [text('Other')] }
    })
    expect(next).toBe('* one\n* two\n\n\n<b>x</b> _y_\n\n## Other\n\nlast\n')
  })

  test.each([
    [[text('2 * 3, snake_case, a <b> & c++')], '2 * 3, snake_case, a <b> & c++'],
    [[text('*not* it')], '\\*not\\* it'],
    [[text('# no heading')], '\\# no heading'],
    [[text('1. no list')], '1\\. no list'],
    [[text('- no list')], '\\- no list'],
    [[text('a', 'bold'), text(' b', 'bold', 'italic')], '**a _b_**'],
    [[text('both', 'bold', 'italic')], '**_both_**'],
    [[text('under ', 'underline'), text('s', 'strike'), text('c', 'code')], '++under++ ~~s~~`c`'],
    [[text('https://a.org')], 'https\\://a.org'],
    [[text('a'), { type: 'hardBreak' }, text('b')], 'a\nb'],
  ])('%j', (content, markdown) => {
    expect(written(...content)).toBe(markdown)
    expect(edited(markdown, () => undefined)).toBe(markdown)
  })

  test('is the stored one if that is longer than the editor takes', () => {
    const opened = openMarkdown('first words\n\nlast')
    const extensions = richTextExtensions('', 10)
    const editor = new Editor({ element: null, extensions, content: opened.content })
    const { plugins } = editor.extensionManager
    const state = EditorState.create({ doc: editor.state.doc, plugins })
    expect(toMarkdown(state.apply(state.tr.scrollIntoView()).doc, opened)).toBe('first words\n\nlast')
    // It cannot grow, only shrink.
    expect(state.apply(state.tr.insertText('x', 1)).doc.textContent).toBe('first wordslast')
    expect(state.apply(state.tr.delete(1, 7)).doc.textContent).toBe('wordslast')
  })

  test.each([
    ['bulletList', 'listItem', '- a\n- '],
    ['orderedList', 'listItem', '1. a\n2. '],
    ['taskList', 'taskItem', '- [ ] a\n- [ ] '],
  ])('keeps an empty item at the end of a %s', (list, item, markdown) => {
    const lines = [{ type: 'paragraph', content: [text('a')] }, { type: 'paragraph' }]
    const block = { type: list, content: lines.map((line) => ({ type: item, content: [line] })) }
    expect(edited('', (blocks) => blocks.splice(0, 1, block))).toBe(markdown)
    expect(openMarkdown(markdown).content.content).toMatchObject([{ type: list, content: [{}, {}] }])
    // Also in a stored text of which another block has changed.
    const next = edited(`${markdown}\n\n\nb`, (blocks) => {
      blocks[1] = { type: 'paragraph', content: [text('c')] }
    })
    expect(next).toBe(`${markdown}\n\nc`)
  })

  test('reads back as what was written', () => {
    const link = (href: string, label: string): JSONContent => ({
      type: 'text',
      text: label,
      marks: [{ type: 'link', attrs: { href } }],
    })
    expect(written(link('https://a.org/x', 'https://a.org/x'))).toBe('https://a.org/x')
    expect(written(link('https://a.org/(x)', 'a]b'))).toBe('[a\\]b](https://a.org/%28x%29)')
    const item = (type: string, value: string, attrs = {}): JSONContent => ({
      type,
      attrs,
      content: [{ type: 'paragraph', content: [text(value)] }],
    })
    const lists = edited('', (blocks) =>
      blocks.splice(
        0,
        1,
        { type: 'orderedList', content: [item('listItem', 'a'), item('listItem', 'b')] },
        { type: 'taskList', content: [item('taskItem', 'c', { checked: true }), item('taskItem', 'd')] },
        { type: 'blockquote', content: [{ type: 'paragraph', content: [text('e')] }, { type: 'paragraph' }] },
      ),
    )
    expect(lists).toBe('1. a\n2. b\n\n- [x] c\n- [ ] d\n\n> e\n>')
  })
})
