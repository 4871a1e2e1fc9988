import { describe, expect, test } from 'bun:test'
import { type FieldTypeName, readOptions } from '../../src/core/fields/index.ts'
import type { Field } from '../../src/core/model.ts'
import { defaultSettings } from '../../src/core/views/form-answers.ts'
import { readPrefill } from '../../web/features/forms/prefill.ts'
import { readFormPlace } from '../../web/features/forms/public/form-place.ts'

const field = (title: string, type: FieldTypeName, options = {}): Field => ({
  id: `c${title}`,
  tableId: 't',
  title,
  columnName: title,
  type,
  options: readOptions(type, options),
  description: null,
  required: false,
  unique: false,
  defaultValue: null,
  order: 1,
  isDisplay: false,
  isPrimaryKey: false,
  isSystem: false,
  databaseType: null,
  readOnlyReason: null,
  result: null,
  error: null,
})

const questions = [
  field('Full name', 'SingleLineText'),
  field('Count', 'Number'),
  field('Tags', 'MultiSelect', { choices: [{ title: 'red' }, { title: 'blue' }] }),
  field('Day', 'Date', { format: 'DD/MM/YYYY' }),
  field('Ok', 'Checkbox'),
  field('Files', 'Attachment'),
].map((one) => ({ field: one, form: defaultSettings(), isRequired: false }))

const read = (query: string) => readPrefill(new URLSearchParams(query), questions)

describe('answers in the address of a form', () => {
  test('are found by title in any case, or by id, and read as people write', () => {
    const { values } = read('full+NAME=Ann&cCount=2&Tags=RED,blue&Day=05/03/2026&Ok=yes&Other=1')
    expect(values).toEqual({
      'cFull name': 'Ann',
      cCount: 2,
      cTags: 'red,blue',
      cDay: '2026-03-05',
      cOk: true,
    })
  })

  test('that do not fit are left out, and neither hidden nor fixed', () => {
    const { values, hidden, readOnly } = read(
      'Count=x&Tags=green&Files=https://x.org/a.png&Full+name=A&_hidden=Count,Full+name&_readonly=Tags',
    )
    expect(values).toEqual({ 'cFull name': 'A' })
    expect([[...hidden], [...readOnly]]).toEqual([['cFull name'], []])
  })

  test('may all be hidden or fixed at once', () => {
    expect([...read('Count=1&Ok=true&_prefill=hidden').hidden]).toEqual(['cCount', 'cOk'])
    expect([...read('Count=1&_prefill=read-only').readOnly]).toEqual(['cCount'])
  })
})

describe('the place of a form', () => {
  test('is read from the address of the page', () => {
    const place = (hash: string, search = '') => {
      const found = readFormPlace({ hash, search })
      return found && { ...found, query: String(found.query) }
    }
    expect(place('#/nc/form/abc')).toEqual({ linkId: 'abc', isSurvey: false, query: '' })
    expect(place('#/w123456/form/a%2Fb/survey?x=1', '?y=2')).toEqual({
      linkId: 'a/b',
      isSurvey: true,
      query: 'y=2&x=1',
    })
    for (const other of ['', '#/nc/form', '#/nc/view/abc', '#/form/abc', '#/nc/form/a/b']) {
      expect(place(other)).toBeNull()
    }
  })
})
