import { describe, expect, test } from 'bun:test'
import {
  isProblem,
  looksLikeJson,
  MAX_TEMPLATE_LENGTH,
  parseTemplate,
  RenderError,
  renderTemplate,
  type TemplateKind,
} from '../../src/core/templates/template.ts'
import { cpuTimeMs } from '../support/cpu-time.ts'

const event = {
  type: 'records.after.insert',
  data: {
    rows: [
      { Id: 1, Title: 'a "quoted" <b>\r\nX-Evil: 1', Num: 4, 'First name': 'Ann', Empty: null, Done: true },
      { Id: 2, Title: 'b', Num: 0, 'First name': 'Bob' },
    ],
  },
}
const data = { event, data: event }

function problemOf(text: string, kind: TemplateKind = 'text') {
  const parsed = parseTemplate(text, kind)
  return isProblem(parsed) ? parsed : null
}

function render(text: string, kind: TemplateKind = 'text', values: unknown = data): string {
  const parsed = parseTemplate(text, kind)
  if (isProblem(parsed)) throw new Error(parsed.message)
  return renderTemplate(parsed, values)
}

describe('parseTemplate', () => {
  test.each([
    ['{{event', 'text', 1],
    ['ab {{#each event.data.rows}}x', 'text', 4],
    ['{{/each}}', 'text', 1],
    ['{{#if a}}{{/each}}', 'text', 10],
    ['{{#if a}}{{else}}{{else}}{{/if}}', 'text', 18],
    ['{{else}}', 'text', 1],
    ['{{exec event}}', 'text', 1],
    ['{{#with event}}{{/with}}', 'text', 1],
    ['{{> partial}}', 'text', 1],
    ['{{json}} {{json a b}}', 'text', 10],
    ['{{}}', 'text', 1],
    ['{{a.}}', 'text', 1],
    ['{{a..b}}', 'text', 1],
    ['{{(a)}}', 'text', 1],
    ['{{a=b}}', 'text', 1],
    ['{{~a}}', 'text', 1],
    ['{{a[1}}', 'text', 1],
    ['{"a": "{{b}}', 'json', 1],
    ['{{#if a}}"{{/if}}', 'json', 1],
    ['{{event.type}}', 'url', 1],
    ['https://{{event.type}}/', 'url', 9],
    ['https://example.com{{event.type}}', 'url', 20],
    ['https://example.com:{{event.type}}/', 'url', 21],
    [`${'{{#if a}}'.repeat(6)}${'{{/if}}'.repeat(6)}`, 'text', 46],
    ['x'.repeat(MAX_TEMPLATE_LENGTH + 1), 'text', MAX_TEMPLATE_LENGTH + 1],
  ] as const)('refuses %p', (text, kind, position) => {
    expect(problemOf(text, kind)).toMatchObject({ position, message: expect.any(String) })
  })

  test.each([
    ['{"a":1}', true],
    [' [1]', true],
    ['{{ json event }}', true],
    ['{{#if a}}{"b":1}{{/if}}', true],
    ['{{event.type}} happened', false],
    ['{{json event}}, as JSON', false],
    ['text', false],
    ['', false],
  ])('%p is meant to be JSON: %p', (text, isJson) => {
    expect(looksLikeJson(text)).toBe(isJson)
  })
})

describe('renderTemplate', () => {
  test.each([
    [
      '{{event.type}} {{data.data.rows.[1].Title}} {{ event.data.rows.1.[First name] }}',
      'records.after.insert b Bob',
    ],
    ['{{event.data.rows[1].Title}}{{{event.data.rows.[1].Id}}}{{& event.data.rows.[1].Num}}', 'b20'],
    ['{{#each event.data.rows}}{{@index}}:{{this.Id}}{{#unless @last}},{{/unless}}{{/each}}', '0:1,1:2'],
    [
      '{{#each event.data.rows}}{{../event.type}}/{{event.type}};{{/each}}',
      'records.after.insert/records.after.insert;'.repeat(2),
    ],
    ['{{#if event.data.rows.[0].Done}}yes{{else}}no{{/if}}{{#if nothing}}yes{{else}}no{{/if}}', 'yesno'],
    ['{{#each nothing}}x{{else}}none{{/each}}', 'none'],
    ['{{! a comment }}{{!-- with }} in it --}}.', '.'],
    ['{{event.data.rows.[0].Empty}}{{nothing.at.all}}|', '|'],
    ['{{json event.data.rows.[1].Num}} {{json nothing}}', '0 null'],
  ])('%p gives %p', (text, output) => {
    expect(render(text)).toBe(output)
  })

  test('reads own properties only', () => {
    for (const path of [
      'constructor',
      'event.constructor.name',
      'event.__proto__',
      'event.type.length',
      'toString',
    ]) {
      expect(render(`{{${path}}}|`)).toBe('|')
    }
  })

  test('keeps the structure of JSON, whatever the values are', () => {
    const text =
      '{"text":"{{event.data.rows.[0].Title}}!","value":{{event.data.rows.[0].Title}},"n":{{event.data.rows.[0].Num}},"none":{{nothing}},"in":"{{json event.type}}"}'
    expect(JSON.parse(render(text, 'json'))).toEqual({
      text: 'a "quoted" <b>\r\nX-Evil: 1!',
      value: 'a "quoted" <b>\r\nX-Evil: 1',
      n: 4,
      none: null,
      in: '"records.after.insert"',
    })
    const evil = { x: '","admin":true,"y":"' }
    expect(JSON.parse(render('{"a":"{{x}}","b":{{x}}}', 'json', evil))).toEqual({ a: evil.x, b: evil.x })
  })

  test('percent-encodes values in addresses, and drops segments of dots', () => {
    const evil = { a: '../x?b=1#c', dots: '..' }
    expect(render('https://e.com/{{a}}/y', 'url', evil)).toBe('https://e.com/..%2Fx%3Fb%3D1%23c/y')
    expect(new URL(render('https://e.com/p/{{dots}}/y', 'url', evil)).pathname).toBe('/p//y')
  })

  test('removes line breaks in headers, and escapes markup', () => {
    const title = '{{event.data.rows.[0].Title}}'
    expect(render(title, 'header')).toBe('a "quoted" <b> X-Evil: 1')
    expect(render(title, 'markup')).toStartWith('a &#34;quoted&#34; &#60;b&#62;')
  })

  test('limits the output of nested lists', () => {
    const list = Array.from({ length: 1_000 }, () => 'x')
    const nested = '{{#each event}}'.repeat(4) + 'x'.repeat(100) + '{{/each}}'.repeat(4)
    const startedAt = cpuTimeMs()
    expect(() => render(nested, 'text', { event: list })).toThrow(RenderError)
    expect(cpuTimeMs() - startedAt).toBeLessThan(1_000)
  })
})
