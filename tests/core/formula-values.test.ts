import { describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { value } from './formula-fields.ts'

const holds = (title: string, cases: [formula: string, expected: CellValue][]) =>
  test.each(cases)(`${title}: %s`, (formula, expected) => {
    expect(value(formula)).toBe(expected)
  })

describe('the meaning of formulas', () => {
  holds('null', [
    ['null + 1', null],
    ['null & "a"', 'a'],
    ['null = ""', true],
    ['null = 0', false],
    ['null != null', false],
    ['null < 1', false],
    ['"" = BLANK()', true],
    ['UPPER(null)', null],
    ['LEN(null)', 0],
    ['LEN(NOW()) * LEN({Price})', 0],
    ['SEARCH(null, "a")', 0],
    ['SEARCH("abc", null) = SEARCH("abc", "")', true],
    ['SEARCH(null, null)', 1],
    ['REGEX_MATCH(null, "^$")', true],
    ['REGEX_MATCH({Title}, "a")', false],
    ['COUNT(null, {Price})', 0],
    ['COUNTA({Title}, "")', 0],
    ['IF(null, 1, 2)', 2],
    ['IF(0, 1)', null],
    ['ADD(null, null)', 0],
    ['AVG(null, null)', null],
    ['MIN(null, 3, 2)', 2],
  ])

  // The days at the ends of years on which the weeks of ISO 8601 and those of the United States differ.
  holds('formats', [
    ['DATETIME_FORMAT("2020-12-31", "WW ww DDD")', '53 01 366'],
    ['DATETIME_FORMAT("2021-01-03", "W w DDDD")', '53 2 003'],
    ['DATETIME_FORMAT("2024-12-30", "WW ww E d")', '01 01 1 1'],
    ['DATETIME_FORMAT("1900-03-01", "DDD")', '60'],
    ['DATETIME_FORMAT("2000-03-01", "DDD")', '61'],
    ['DATETIME_FORMAT("2024-03-11 00:05:09.078", "dd Do k kk S SS")', 'Mo 11th 24 24 0 07'],
    ['DATETIME_FORMAT("2024-03-22", "Do [of] MMMM")', '22nd of March'],
    [
      'DATETIME_FORMAT("2024-03-05 13:20:30", "L LT; LLLL; LTS ZZ X")',
      '03/05/2024 1:20 PM; Tuesday, March 5, 2024 1:20 PM; 1:20:30 PM +0000 1709644830',
    ],
    ['DATETIME_PARSE("5.3.2024 1:7:9 pm", "D.M.YYYY h:m:s a") = "2024-03-05 13:07:09"', true],
    ['DATESTR(DATEADD("2024-01-31", 1, "M"))', '2024-02-29'],
    ['DATESTR(DATEADD("2024-01-31", 2, "Quarters"))', '2024-07-31'],
    ['DATEADD("2024-01-31", 2, "m") = "2024-01-31 00:02"', true],
  ])

  holds('errors', [
    ['ISERROR(MOD(5, 0))', true],
    ['ISERROR(1 + 1 / 0)', true],
    ['ISERROR({Price} / 2)', false],
    ['ISERROR(VALUE(""))', false],
    ['ISERROR(VALUE(null & ""))', false],
    ['ISERROR(VALUE("x"))', true],
    ['ISERROR({Price} / 0)', false],
    ['ISERROR(UPPER(LOG(0) & ""))', true],
    ['ISERROR(1e29 * 1e29)', true],
    ['ISERROR(DATETIME_PARSE("soon"))', true],
    ['ISERROR(DATEADD("9999-12-31", 1, "day"))', true],
    ['ISERROR(REGEX_EXTRACT("abc", "[0-9]"))', true],
    ['ISERROR(IF(false, 1 / 0, 2))', false],
    ['ISERROR(IF(1 / 0, 1, 2))', true],
    ['ISERROR(IF(false, 1))', false],
    ['ISERROR(SWITCH(2, 1, 1 / 0, 2, 3))', false],
    ['ISERROR(SWITCH(1, 1, 1 / 0, 2, 3))', true],
    ['ISERROR(SWITCH(9, 1, 2, ERROR()))', true],
    ['ISERROR(IFERROR(1 / 0, 5))', false],
    ['ISERROR(IFERROR(1 / 0, SQRT(-1)))', true],
    ['ISERROR(ISERROR(1 / 0))', false],
    ['ISERROR(MIN(null, null))', false],
    ['IFERROR({Price}, 5)', null],
    ['IFERROR(1e29 * 1e29, "large")', 'large'],
    ['IFERROR(DATEADD("9999-12-31", 1, "day"), "2024-01-01")', '2024-01-01'],
    ['ERROR()', null],
  ])

  holds('numbers', [
    ['1 / 0', null],
    ['0.1 + 0.2', 0.1 + 0.2],
    ['1e20 * 1e20', null],
    ['1e29 * 1e29 / 1e29 / 1e29', 1],
    ['MOD(-7, 3)', -1],
    ['-7 % 3', -1],
    ['MOD(7, 0)', null],
    ['INT(-1.5)', -2],
    ['ROUND(-2.5)', -3],
    ['ROUND(0.285, 2)', 0.29],
    ['ROUND(1234.5, -2)', 1200],
    ['ROUND(1.5, null)', null],
    ['ROUNDUP(1.1, 1)', 1.1],
    ['ROUNDDOWN(0.29, 2)', 0.29],
    ['EVEN(-1)', -2],
    ['ODD(1.5)', 3],
    ['SQRT(-1)', null],
    ['LOG(0)', null],
    ['POWER(-8, 1 / 3)', null],
    ['TRUE() + 1', 2],
    ['-(1 + 2)', -3],
    ['2 * -(3)', -6],
    ['-2 * 3', -6],
    ['1 - -1', 2],
    ['--1', 1],
    ['-(-(2))', 2],
    ['-ABS(-4)', -4],
    ['-TRUE()', -1],
    ['-null', null],
    ['-POWER(2, 2)', -4],
    ['1 / -(0)', null],
    ['-(0) & ""', '0'],
  ])

  holds('numbers as text', [
    ['0.1 + 0.2 & ""', '0.3'],
    ['2.0 & ""', '2'],
    ['1e21 & ""', '1000000000000000000000'],
    ['1 / 3 & ""', '0.333333333333333'],
    ['-2 / 3 & ""', '-0.666666666666667'],
    ['0 / -5 & ""', '0'],
    ['1e-7 & ""', '0.0000001'],
    ['9007199254740991 & ""', '9007199254740991'],
    ['1e20 * 1e20 & "!"', '!'],
    ['true & false', 'truefalse'],
  ])

  holds('text', [
    ['LEN("a😀é")', 3],
    ['LEFT("😀bc", 2)', '😀b'],
    ['RIGHT("ab😀", 2)', 'b😀'],
    ['SUBSTR("abc", -3, 2)', 'ab'],
    ['MID("abc", 2, -1)', ''],
    ['MID("abc", 9, 1)', ''],
    ['REPEAT("ab", -1)', ''],
    ['REPEAT("ab", 50001)', null],
    ['LEN(REPEAT("ab", 50000))', 100000],
    ['REPLACE(REPEAT("a", 1000), "a", REPEAT("b", 1000))', null],
    ['SEARCH("a😀b", "b")', 3],
    ['"a" < "B"', false],
    ['"a " = "a"', false],
    ['UPPER("straße žluť ώς")', 'STRAßE ŽLUŤ ΏΣ'],
    ['UPPER("Σίσυφος")', 'ΣΊΣΥΦΟΣ'],
    ['LOWER("ΣΊΣΥΦΟΣ")', 'σίσυφος'],
    ['LOWER("ΟΔΟΣ ΟΔΟΣ, Σ. ΑΣΑ")', 'οδος οδος, σ. ασα'],
    ['LOWER("İSTANBUL ΌΔΟΣ")', 'istanbul όδος'],
    ['UPPER("việt nam, հայ, ǆ, ﬁ, ა")', 'VIỆT NAM, ՀԱՅ, Ǆ, ﬁ, ა'],
    ['LOWER("ẞ VIỆT 𐐀")', 'ß việt 𐐨'],
    ['VALUE("1,5")', null],
    ['VALUE(" .5 ")', 0.5],
    ['"10" = 10', true],
    ['" 10.0 " = 10', true],
    ['"9" < 10', true],
    ['10 > "9"', true],
    ['"10" > 9', true],
    ['"-1e3" < -999', true],
    ['"abc" < 5', false],
    ['"abc" >= 5', false],
    ['"abc" = 5', false],
    ['"abc" != 5', true],
    ['"" = 0', false],
    ['"" < 1', false],
    ['{Price} = ""', true],
    ['{Title} = {Price}', true],
    ['"abc" = {Price}', false],
    ['{Price} < "abc"', false],
    ['SWITCH("007", 7, "seven", "no")', 'seven'],
    ['SWITCH(7, "x", 1, "7.0", 2)', 2],
    ['SWITCH("", 0, "zero", {Price}, "empty")', 'empty'],
    ['SWITCH("true", 1, "one", true, "yes")', 'yes'],
    ['"2024-03-05" = {Due}', false],
    ['URL("x")', 'URI::( x )'],
  ])

  holds('dates', [
    ['DATEADD("2024-01-31", 1, "month")', '2024-02-29'],
    ['DATEADD("2024-02-29", 1, "year")', '2025-02-28'],
    ['DATEADD("2024-03-31", -1, "month")', '2024-02-29'],
    ['DATEADD("9999-12-31", 1, "day")', null],
    ['DATEADD("31/12/2023", 1.9, "day")', '2024-01-01'],
    ['DATETIME_DIFF("2024-03-31", "2024-02-29", "months")', 1],
    ['DATETIME_DIFF("2024-02-28", "2024-03-31", "months")', -1],
    ['DATETIME_DIFF("2023-12-31", "2025-01-01", "years")', -1],
    ['DATETIME_DIFF("2024-01-01", "2024-01-02", "hours")', -24],
    ['WEEKDAY("2024-03-03")', 6],
    ['WEEKDAY("2024-03-03", "Sunday")', 0],
    ['"2024-02-30" & ""', '2024-02-30'],
    ['DAY("03-04-2024")', 3],
    ['DAY("12/31/2024")', 31],
    ['HOUR("2024 02 29 13:45:10.250")', 13],
    ['WEEKNUM("2025-01-01")', 1],
    ['WEEKNUM("2025-01-06")', 2],
    ['WORKDAY("2024-03-09", 1)', '2024-03-11'],
    ['WORKDAY("2024-03-08", 1, "2024-03-11, 2024-03-09")', '2024-03-12'],
    ['WORKDAY("2024-03-12", -1, "2024-03-11")', '2024-03-08'],
    ['WORKDAY("2024-03-09", 0)', '2024-03-09'],
    ['WORKDAY_DIFF("2024-03-09", "2024-03-10")', 0],
    ['WORKDAY_DIFF("2024-03-04", "2024-03-04")', 1],
    ['IS_SAME(null, null)', false],
    ['IS_SAME("2024-03-03", "2024-03-02", "w")', true],
    ['IF(true, NOW(), "2024-01-01") & ""', '2024-01-01 00:00:00'],
  ])

  test('counts workdays as a calendar does', () => {
    const holidays = ['2024-02-09', '2024-02-12', '2024-02-17', '2024-02-26']
    const list = holidays.join(', ')
    const day = (at: number) => new Date(Date.UTC(2024, 1, at)).toISOString().slice(0, 10)
    const isWorkday = (at: number) =>
      new Date(Date.UTC(2024, 1, at)).getUTCDay() % 6 !== 0 && !holidays.includes(day(at))
    for (let start = 1; start <= 29; start++) {
      for (let steps = -12; steps <= 12; steps++) {
        let at = start
        for (let left = Math.abs(steps); left > 0; ) {
          at += Math.sign(steps)
          if (isWorkday(at)) left--
        }
        expect([start, steps, value(`WORKDAY("${day(start)}", ${steps}, "${list}")`)]).toEqual([
          start,
          steps,
          day(at),
        ])
      }
      for (let end = start; end <= 29; end++) {
        const count = Array.from({ length: end - start + 1 }, (_, index) => start + index).filter(
          isWorkday,
        ).length
        const counted = value(`WORKDAY_DIFF("${day(start)}", "${day(end)}", "${list}")`)
        expect([start, end, counted]).toEqual([start, end, count])
      }
    }
  })

  test('looks at an instant in the zone of its field or of SET_TIMEZONE', () => {
    const at = { cat: '2024-03-31 00:30:00+00:00' }
    const shown = (text: string) => value(text, at, 'America/New_York')
    expect(shown('HOUR(SET_TIMEZONE({At}, "Europe/Berlin"))')).toBe(1)
    // What follows from it is in that zone as well: the clocks there skip an hour on that day.
    expect(
      shown('DATETIME_FORMAT(DATEADD(SET_TIMEZONE({At}, "Europe/Berlin"), 1, "day"), "DD HH:mm Z")'),
    ).toBe('01 01:30 +02:00')
    expect(shown('SET_TIMEZONE({At}, "Europe/Berlin") = "2024-03-31 01:30"')).toBe(true)
    expect(shown('{At} = "2024-03-30 20:30"')).toBe(true)
    expect(shown('SET_TIMEZONE({At}, "Asia/Tokyo") & ""')).toBe('2024-03-31 09:30:00')
    expect(shown('DATETIME_FORMAT("0099-01-01 00:05", "YY h:m a")')).toBe('99 12:5 am')
    expect(shown('FROMNOW("2023-01-01 00:00")')).toBe('11 months')
  })

  test('looks at instants in the zone that it is given', () => {
    const at = { cat: '2024-03-31 00:30:00+00:00' }
    expect(value('HOUR({At})', at, 'Europe/Berlin')).toBe(1)
    expect(value('DAY({At})', at, 'America/New_York')).toBe(30)
    // 01:30 on the day on which 02:00 to 03:00 is skipped: a day on the wall is 23 hours.
    expect(value('DATEADD({At}, 1, "day")', at, 'Europe/Berlin')).toBe('2024-03-31 23:30:00+00:00')
    // 24 hours of exact time end an hour later on the clock.
    expect(value('DATEADD({At}, 24, "hour")', at, 'Europe/Berlin')).toBe('2024-04-01 00:30:00+00:00')
    const due = { cdue: '2024-07-01' }
    expect(value('DATEADD({Due}, 1, "hour")', due, 'Europe/Berlin')).toBe('2024-06-30 23:00:00+00:00')
    expect(value('DATETIME_DIFF(DATEADD({At}, 1, "day"), {At}, "hours")', at, 'Europe/Berlin')).toBe(23)
    expect(value('DATETIME_DIFF(DATEADD({At}, 1, "day"), {At}, "days")', at, 'Europe/Berlin')).toBe(1)
    expect(value('IF({At}, "2024-03-31 02:30", {At})', at, 'Europe/Berlin')).toBe('2024-03-31 01:30:00+00:00')
    expect(value('IF({At}, "2024-10-27 02:30", {At})', at, 'Europe/Berlin')).toBe('2024-10-27 00:30:00+00:00')
    expect(value('IF({At}, {Due}, {At})', { ...at, cdue: '2024-07-01' }, 'Europe/Berlin')).toBe(
      '2024-06-30 22:00:00+00:00',
    )
  })
})
