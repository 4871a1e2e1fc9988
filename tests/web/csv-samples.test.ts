import { expect, test } from 'bun:test'
import { createAnalyser } from '../../web/features/imports/analyse.ts'
import { readSamples, sourceOfFile } from '../../web/features/imports/source.ts'

test('the preview of a long CSV file finds texts that its export has guarded behind the beginning', async () => {
  const lines = (count: number, text: string) => `${text},${'x'.repeat(200)}\r\n`.repeat(count)
  const file = `Title,More\r\n${lines(6000, 'plain')}${lines(6000, "'- milk")}`
  const analyser = createAnalyser()
  try {
    const source = sourceOfFile(new File([file], 'long.csv'))
    const samples = await readSamples(source, (_, from, to) => new Blob([file]).slice(from, to).arrayBuffer())
    const analysis = await analyser.analyse(samples, {})
    expect(analysis?.format).toMatchObject({ guarded: true })
    expect(analysis?.rows.some(([title]) => title === '- milk')).toBe(true)
  } finally {
    analyser.close()
  }
})
