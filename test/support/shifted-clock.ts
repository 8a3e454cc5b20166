/** Shifts the clock of a process started with `--import` of this file by `CLOCK_SHIFT_MS`. Timers are not affected. */
const shift = Number(process.env.CLOCK_SHIFT_MS ?? 0);
const RealDate = Date;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, parameters, newTarget) =>
    Reflect.construct(target, parameters.length === 0 ? [RealDate.now() + shift] : parameters, newTarget),
  get: (target, name) => (name === 'now' ? () => RealDate.now() + shift : Reflect.get(target, name)),
});
