import { type RefObject, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { follow, mustRealign, realign, type ScrollPosition, scrollSize } from '../../../../grid/scroll-map.ts'
import { useLayoutOnChange } from '../../../../ui/effects.ts'
import { type GalleryLayout, layoutGallery, revealTop, rowsIn } from './gallery-layout.ts'

/** Overscan in pixels, so that fast scrolling shows cards. */
const MARGIN_PX = 600
/** Delay after scrolling before the scrollbar is corrected. */
const REST_MS = 160

export interface GalleryScroll {
  /** The scroll container. */
  box: RefObject<HTMLDivElement | null>
  layout: GalleryLayout
  /** The mounted rows. */
  rows: { first: number; last: number }
  /** Offset between virtual and DOM positions: the scroll element may be shorter than all cards. */
  origin: number
  /** Height of the scrolled element. */
  height: number
  /** Number of visible rows. */
  pageRows: () => number
  /** Scrolls to a slot. */
  reveal: (index: number) => void
}

/** Scroll state of a gallery; keeps the top card in place when the width changes. */
export function useGalleryScroll(places: number, cardHeight: number): GalleryScroll {
  const box = useRef<HTMLDivElement>(null)
  const [size, setSize] = useState({ width: 0, height: 0 })
  const layout = useMemo(
    () => layoutGallery(size.width, places, cardHeight),
    [size.width, places, cardHeight],
  )
  const at = useRef<ScrollPosition>({ scrollTop: 0, top: 0 })
  /** The card at the top, and how far its row is scrolled out. */
  const anchor = useRef({ index: 0, offset: 0 })
  const [view, setView] = useState({ first: 0, last: -1, origin: 0 })
  const latest = useRef({ layout, height: size.height })
  latest.current = { layout, height: size.height }

  const mount = useCallback(() => {
    const { layout, height } = latest.current
    const { top, scrollTop } = at.current
    const { first, last } = rowsIn(layout, top - MARGIN_PX, top + height + MARGIN_PX)
    const origin = top - scrollTop
    setView((before) =>
      before.first === first && before.last === last && before.origin === origin
        ? before
        : { first, last, origin },
    )
  }, [])

  const put = useCallback(
    (position: ScrollPosition) => {
      at.current = position
      const element = box.current
      if (element && element.scrollTop !== position.scrollTop) element.scrollTop = position.scrollTop
      mount()
    },
    [mount],
  )

  const goTo = useCallback(
    (top: number) => {
      const { layout, height } = latest.current
      const most = Math.max(0, layout.height - height)
      put(realign(scrollSize(layout.height, height), { scrollTop: 0, top: Math.max(0, Math.min(top, most)) }))
    },
    [put],
  )

  const remember = useCallback(() => {
    const { layout } = latest.current
    const { first } = rowsIn(layout, at.current.top, at.current.top)
    anchor.current = {
      index: first * layout.columns,
      offset: at.current.top - first * layout.rowStep,
    }
  }, [])

  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    let rest: ReturnType<typeof setTimeout> | undefined
    const measure = () => setSize({ width: element.clientWidth, height: element.clientHeight })
    const onScroll = () => {
      const { layout, height } = latest.current
      // Ignores our own corrections; the anchor is already known.
      if (Math.abs(element.scrollTop - at.current.scrollTop) < 1) return
      const sizes = scrollSize(layout.height, height)
      at.current = follow(sizes, at.current, element.scrollTop)
      remember()
      if (mustRealign(sizes, at.current)) put(realign(sizes, at.current))
      else mount()
      clearTimeout(rest)
      rest = setTimeout(() => put(realign(sizes, at.current)), REST_MS)
    }
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    measure()
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      observer.disconnect()
      clearTimeout(rest)
      element.removeEventListener('scroll', onScroll)
    }
  }, [mount, put, remember])

  const { columns, rowStep, height } = layout
  useLayoutOnChange([columns, rowStep, height, size.height], () => {
    const { index, offset } = anchor.current
    goTo(Math.floor(index / columns) * rowStep + Math.min(offset, rowStep))
  })

  const reveal = useCallback(
    (index: number) => {
      const { layout, height } = latest.current
      goTo(revealTop(layout, index, at.current.top, height))
      remember()
    },
    [goTo, remember],
  )
  const pageRows = useCallback(
    () => Math.max(1, Math.floor(latest.current.height / latest.current.layout.rowStep)),
    [],
  )
  return {
    box,
    layout,
    reveal,
    pageRows,
    rows: { first: view.first, last: view.last },
    origin: view.origin,
    height: scrollSize(layout.height, size.height).physical,
  }
}
