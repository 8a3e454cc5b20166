/**
 * A process started with `--import` of this file has a clock that is wrong by `CLOCK_SHIFT_MS`. Its timers run
 * as ever.
 */
const shift = Number(process.env.CLOCK_SHIFT_MS ?? 0);
const RealDate = Date;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, parameters, newTarget) =>
    Reflect.construct(target, parameters.length === 0 ? [RealDate.now() + shift] : parameters, newTarget),
  get: (target, name) => (name === 'now' ? () => RealDate.now() + shift : Reflect.get(target, name)),
});
