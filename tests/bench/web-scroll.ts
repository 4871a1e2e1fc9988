import type { CDPSession, Page } from 'playwright-core'
import { ROW_HEIGHTS } from '../../web/grid/layout.ts'
import type { Line } from './report.ts'
import type { Frame } from './web-probe.ts'
import { WEB_PROMISES } from './web-promises.ts'

const SPEED = 7_000
const SECONDS = 4
/** Each from another part of the table, in shares of the scrollbar's way; their frames are judged together. */
const STARTS = [0, 0.33, 0.66]
/** A gesture that Chromium carried out slower than this has not measured what is promised. */
const LEAST_SPEED = SPEED * 0.95

/** Scrolls through rows that were not loaded before, by the wheel, as the browser does it for a person. */
export async function measureScrolling(page: Page, cdp: CDPSession): Promise<Line[]> {
  const runs: Frame[][] = []
  for (const start of STARTS) {
    if (start > 0) await page.evaluate((share) => window.probe.timeScrollbar(share), start)
    await Bun.sleep(500)
    runs.push(await scroll(page, cdp))
  }
  const speed = Math.min(...runs.map(speedOf))
  const isFast = speed >= LEAST_SPEED
  const frames = runs.flatMap(lastingOf)
  const sorted = frames.map(({ lastMs }) => lastMs).sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  const blank = shareOf(frames, ({ isBlank }) => isBlank)
  const skeletons = shareOf(frames, ({ isLoaded }) => !isLoaded)
  const { work, promise, limit } = WEB_PROMISES.frames
  return [
    {
      work,
      promise,
      result: `p95 ${at(0.95).toFixed(1)} ms`,
      holds: isFast && at(0.95) < limit,
      detail:
        `${STARTS.length} × ${SECONDS} s at ${speed.toFixed(0)} px/s${isFast ? '' : ', too slow to count'}; ` +
        `${frames.length} frames, p50 ${at(0.5).toFixed(1)}, p99 ${at(0.99).toFixed(1)}, longest ${at(1).toFixed(1)} ms`,
    },
    {
      work: WEB_PROMISES.blank.work,
      promise: WEB_PROMISES.blank.promise,
      result: `${blank.toFixed(1)} %`,
      holds: isFast && blank <= WEB_PROMISES.blank.limit,
      detail: `skeletons in ${skeletons.toFixed(1)} %; a frame counts for as long as it stood`,
    },
  ]
}

/** One gesture, and its frames from the last before it moved to the last that moved. */
async function scroll(page: Page, cdp: CDPSession): Promise<Frame[]> {
  await page.evaluate(() => window.probe.start())
  await cdp.send('Input.synthesizeScrollGesture', {
    x: 700,
    y: 450,
    yDistance: -SPEED * SECONDS,
    speed: SPEED,
    gestureSourceType: 'mouse',
    preventFling: true,
  })
  const frames = await page.evaluate(() => window.probe.stop())
  const moved = frames.map(({ top }, index) => index > 0 && top !== frames[index - 1]!.top)
  return frames.slice(Math.max(0, moved.indexOf(true) - 1), moved.lastIndexOf(true) + 1)
}

/** Each frame with the time since the one before it, which is how long its predecessor stood on the screen. */
const lastingOf = (run: Frame[]): (Frame & { lastMs: number })[] =>
  run.slice(1).map((frame, index) => ({ ...frame, lastMs: frame.atMs - run[index]!.atMs }))

/** In percent of the time: one blank frame of 250 ms is as bad as fifteen of 16.7 ms. */
function shareOf(frames: ReturnType<typeof lastingOf>, holds: (frame: Frame) => boolean): number {
  const sum = (some: typeof frames) => some.reduce((total, { lastMs }) => total + lastMs, 0)
  return (100 * sum(frames.filter(holds))) / sum(frames)
}

function speedOf(run: Frame[]): number {
  const [first, last] = [run[0], run.at(-1)]
  if (!first || !last || run.length < 2) return 0
  return ((last.top - first.top) * ROW_HEIGHTS.short * 1000) / (last.atMs - first.atMs)
}
