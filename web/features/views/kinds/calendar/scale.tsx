import { resolveZone } from '../../../../../src/core/dates.ts'
import { MonthDots } from './month-dots.tsx'
import { MonthGrid } from './month-grid.tsx'
import type { DatedRange } from './ranges.ts'
import type { Scene } from './scene.ts'
import { TimeGrid } from './time-grid.tsx'
import { YearGrid } from './year-grid.tsx'

/** The calendar in the scale that is chosen; hours are those of the first range that has times. */
export function Scale(props: { scene: Scene; ranges: readonly DatedRange[]; isNarrow: boolean }) {
  const { scene, ranges, isNarrow } = props
  const { scale } = scene.period
  if (scale === 'year') return <YearGrid scene={scene} />
  if (scale === 'month') return isNarrow ? <MonthDots scene={scene} /> : <MonthGrid scene={scene} />
  const timed = ranges.find(({ from }) => from.hasTime)?.from
  const options = timed?.field.result?.options ?? timed?.field.options
  return (
    <TimeGrid
      key={scale}
      scene={scene}
      is12h={options?.time12h === true}
      zone={timed?.zone ?? resolveZone('local')}
    />
  )
}
