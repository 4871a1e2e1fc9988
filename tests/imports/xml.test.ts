import { describe, expect, test } from 'bun:test'
import { parseXml } from '../../modules/imports/readers/excel/xml.ts'

/** What the handlers are told, with adjacent texts joined. */
async function eventsOf(xml: string, chunkSize = xml.length): Promise<unknown[]> {
  const bytes = new TextEncoder().encode(xml)
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkSize) yield bytes.subarray(at, at + chunkSize)
  }
  const events: unknown[] = []
  const handlers = {
    open: (name: string, attributes: Record<string, string>) => events.push([name, attributes]),
    text(piece: string) {
      const last = events.at(-1)
      if (typeof last === 'string') events[events.length - 1] = last + piece
      else events.push(piece)
    },
    close: (name: string) => events.push([`/${name}`]),
  }
  for await (const _ of parseXml(chunks(), 'sheet', handlers));
  return events
}

describe('parseXml', () => {
  test.each([
    ['an unclosed tag', '<a><b></a>'],
    ['a missing end', '<a><b></b>'],
    ['an end too many', '<a></a></a>'],
    ['an unfinished tag', '<a><b c="1'],
    ['an attribute without quotes', '<a b=1></a>'],
    ['an attribute without a value', '<a b></a>'],
    ['an unknown entity', '<a>&b;</a>'],
    ['an entity named as a method of objects', '<a>&toString;</a>'],
    ['an unfinished reference', '<a>&amp</a>'],
    ['a character that there is none of', '<a>&#x110000;</a>'],
    ['a control character', '<a>\u0001</a>'],
    ['a reference to one', '<a>&#0;</a>'],
    ['no tag', 'text'],
    ['nothing', ''],
    ['too many levels', `${'<a>'.repeat(101)}${'</a>'.repeat(101)}`],
    ['unknown markup', '<a><!ELEMENT b (c)></a>'],
  ])('refuses %s', async (_, xml) => {
    await expect(eventsOf(xml)).rejects.toThrow('is damaged')
    await expect(eventsOf(xml, 1)).rejects.toThrow('is damaged')
  })

  test('refuses a doctype', async () => {
    await expect(eventsOf('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')).rejects.toThrow(
      /DOCTYPE|document type/i,
    )
  })

  const SHEET = `\uFEFF<?xml version="1.0"?>\n<x:sheet a='1 > "0"' b = "&lt;&#65;&#x42;">
    <!-- <c> & --><c r="A1"/><v>1 &amp; ü&apos;&quot;&gt;</v><t ><![CDATA[<i>&amp;]]></t
    ></x:sheet>\n`

  test.each([1, 2, 3, 7, 16, 1000])('gives the same events in chunks of %p bytes', async (size) => {
    const events = (await eventsOf(SHEET, size)).filter(
      (event) => typeof event !== 'string' || event.trim() !== '',
    )
    expect(events).toEqual([
      ['sheet', { a: '1 > "0"', b: '<AB' }],
      ['c', { r: 'A1' }],
      ['/c'],
      ['v', {}],
      `1 & ü'">`,
      ['/v'],
      ['t', {}],
      '<i>&amp;',
      ['/t'],
      ['/sheet'],
    ])
  })
})
