// A device tests checks before it changes variables, and the host reads them after that: one scalar, unless one has
// failed. Steps that are not only launched, as operations on queues, wait for the checks.
//
// RUN: tfc-opt --tfc-guard-updates %s | FileCheck %s

#gpu = #dfg.device<"/job:local/task:0/device:gpu:0">
module attributes {dfg.devices = [#dfg.device<"/job:local/task:0/device:cpu:0">, #gpu]} {
  dfg.variable @v : tensor<4xf32> {dfg.device = #gpu}
  dfg.variable @w : tensor<4xf32> {dfg.device = #gpu}

  // CHECK-LABEL: dfg.entry @both(
  // CHECK: %[[A:.*]]:2 = dfg.launch @valid
  // CHECK: %[[B:.*]]:2 = dfg.launch @valid
  // CHECK-NEXT: %[[HOLD:.*]] = dfg.launch @all_hold(%[[A]]#0, %[[B]]#0) {memory = [#dfg.memory<arena>]
  // CHECK-NEXT: dfg.launch @next_guarded(%{{.*}}, %[[HOLD]]) {guarded, memory = [#dfg.memory<variable @v>]
  // CHECK-NEXT: dfg.launch @next(%{{[^,]*}}) {memory = [#dfg.memory<fetch 0>]
  // CHECK-NEXT: dfg.if %[[HOLD]]
  // CHECK: else
  // CHECK-NEXT: dfg.check %[[A]]#0, "first %lld"(%[[A]]#1
  // CHECK-NEXT: dfg.check %[[B]]#0, "second %lld"(%[[B]]#1
  dfg.entry @both(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>) attributes {device = #gpu} {
    %a:2 = dfg.launch @valid(%x) {sizes = #dfg.dims<>, memory = [#dfg.memory<arena>, #dfg.memory<arena>]} : (tensor<4xf32>) -> (tensor<i1>, tensor<i64>)
    %b:2 = dfg.launch @valid(%y) {sizes = #dfg.dims<>, memory = [#dfg.memory<arena>, #dfg.memory<arena>]} : (tensor<4xf32>) -> (tensor<i1>, tensor<i64>)
    dfg.check %a#0, "first %lld"(%a#1 : tensor<i64>) : tensor<i1>
    dfg.check %b#0, "second %lld"(%b#1 : tensor<i64>) : tensor<i1>
    %v = dfg.launch @next(%x) {sizes = #dfg.dims<>, memory = [#dfg.memory<variable @v>]} : (tensor<4xf32>) -> tensor<4xf32>
    %z = dfg.launch @next(%y) {sizes = #dfg.dims<>, memory = [#dfg.memory<fetch 0>]} : (tensor<4xf32>) -> tensor<4xf32>
    %0 = dfg.assign @v, %v : tensor<4xf32>
    dfg.return %z : tensor<4xf32>
  }

  // A single condition is the guard.
  // CHECK-LABEL: dfg.entry @one(
  // CHECK: %[[A:.*]]:2 = dfg.launch @valid
  // CHECK-NEXT: dfg.launch @only(%{{.*}}, %[[A]]#0) {guarded
  // CHECK-NEXT: dfg.check %[[A]]#0
  dfg.entry @one(%x: tensor<4xf32>) attributes {device = #gpu} {
    %a:2 = dfg.launch @valid(%x) {sizes = #dfg.dims<>, memory = [#dfg.memory<arena>, #dfg.memory<arena>]} : (tensor<4xf32>) -> (tensor<i1>, tensor<i64>)
    dfg.check %a#0, "first %lld"(%a#1 : tensor<i64>) : tensor<i1>
    %w = dfg.launch @only(%x) {sizes = #dfg.dims<>, memory = [#dfg.memory<variable @w>]} : (tensor<4xf32>) -> tensor<4xf32>
    %0 = dfg.assign @w, %w : tensor<4xf32>
    dfg.return
  }

  // A launch overwrites what the message shows.
  // CHECK-LABEL: dfg.entry @overwritten(
  // CHECK: dfg.check
  // CHECK: dfg.launch @next({{.*}}variable @w
  // CHECK-NOT: dfg.check
  dfg.entry @overwritten(%x: tensor<4xf32>) attributes {device = #gpu} {
    %a:2 = dfg.launch @valid(%x) {sizes = #dfg.dims<>, memory = [#dfg.memory<arena>, #dfg.memory<arena>]} : (tensor<4xf32>) -> (tensor<i1>, tensor<i64>)
    dfg.check %a#0, "first %lld"(%a#1 : tensor<i64>) : tensor<i1>
    %w = dfg.launch @next(%x) {sizes = #dfg.dims<>, memory = [#dfg.memory<variable @w>]} : (tensor<4xf32>) -> tensor<4xf32>
    %i = dfg.launch @increment(%a#1) {sizes = #dfg.dims<>, memory = [#dfg.memory<operand 0>]} : (tensor<i64>) -> tensor<i64>
    %0 = dfg.assign @w, %w : tensor<4xf32>
    dfg.return
  }

  // The partitions of an entry agree on failures first.
  // CHECK-LABEL: dfg.entry @committed(
  // CHECK: dfg.check
  // CHECK: dfg.commit
  // CHECK: dfg.launch @next({{.*}}variable @w
  dfg.entry @caller(%x: tensor<4xf32>) attributes {partitions = [@committed], slots = [#dfg.slot<0 to 1>]} {
    dfg.send %x to slot 0 : tensor<4xf32>
    dfg.commit
    dfg.return
  }
  dfg.entry @committed() attributes {device = #gpu, partition_of = @caller} {
    %x = dfg.receive slot 0 : tensor<4xf32>
    %a:2 = dfg.launch @valid(%x) {sizes = #dfg.dims<>, memory = [#dfg.memory<arena>, #dfg.memory<arena>]} : (tensor<4xf32>) -> (tensor<i1>, tensor<i64>)
    dfg.check %a#0, "first %lld"(%a#1 : tensor<i64>) {numbers = array<i32: 0>} : tensor<i1>
    dfg.commit
    %w = dfg.launch @next(%x) {sizes = #dfg.dims<>, memory = [#dfg.memory<variable @w>]} : (tensor<4xf32>) -> tensor<4xf32>
    %0 = dfg.assign @w, %w : tensor<4xf32>
    dfg.return
  }

  // CHECK: kernel.func @next(
  // CHECK-NOT: guarded
  // CHECK: kernel.func @next_guarded({{.*}} attributes {guarded
  kernel.func @next(tensor<4xf32>) -> tensor<4xf32> attributes {target = "gpu"}
  // CHECK: kernel.func @only({{.*}} attributes {guarded
  kernel.func @only(tensor<4xf32>) -> tensor<4xf32> attributes {target = "gpu"}
  kernel.func @valid(tensor<4xf32>) -> (tensor<i1>, tensor<i64>) attributes {target = "gpu"}
  kernel.func @increment(tensor<i64>) -> (tensor<i64> {kernel.in_place = 0 : i32}) attributes {target = "gpu"}
}
