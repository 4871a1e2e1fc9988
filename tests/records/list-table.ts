import type { Bench, TestTable } from './support.ts'

const COLOURS = ['red', 'green', 'blue']

/** Sixty records: a title, a number from 1 to 6 or none, a colour or none. */
export const createListTable = (bench: Bench): Promise<TestTable> =>
  bench.table(
    {
      Title: 'SingleLineText',
      Num: 'Number',
      Colour: { type: 'SingleSelect', options: { choices: COLOURS.map((title) => ({ title })) } },
    },
    Array.from({ length: 60 }, (_, index) => ({
      Title: `row ${index + 1}`,
      Num: index % 7 === 0 ? null : index % 7,
      Colour: index % 4 === 3 ? null : COLOURS[index % 4],
    })),
  )
